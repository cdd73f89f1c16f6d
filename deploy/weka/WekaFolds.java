import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import weka.classifiers.Classifier;
import weka.classifiers.bayes.NaiveBayes;
import weka.classifiers.trees.J48;
import weka.core.Instances;
import weka.core.converters.ConverterUtils.DataSource;

/**
 * Weka's J48 and naive Bayes on folds that somebody else has made.
 *
 * <p>The arguments are an ARFF file whose last attribute is the class, a file with the fold of each instance, one a
 * line, and how many folds to test on. For each learner and fold a line tells: the learner, the fold, the percentage
 * answered rightly, and the seconds of training.
 */
public final class WekaFolds {
  public static void main(String[] arguments) throws Exception {
    Instances all = DataSource.read(arguments[0]);
    all.setClassIndex(all.numAttributes() - 1);
    List<String> folds = Files.readAllLines(Path.of(arguments[1]));
    int measured = Integer.parseInt(arguments[2]);
    for (int fold = 0; fold < measured; fold++) {
      Instances training = new Instances(all, all.numInstances());
      Instances testing = new Instances(all, all.numInstances());
      for (int i = 0; i < all.numInstances(); i++) {
        (Integer.parseInt(folds.get(i)) == fold ? testing : training).add(all.instance(i));
      }
      for (Classifier learner : new Classifier[] {new J48(), new NaiveBayes()}) {
        long start = System.nanoTime();
        learner.buildClassifier(training);
        double seconds = (System.nanoTime() - start) / 1e9;
        int right = 0;
        for (int i = 0; i < testing.numInstances(); i++) {
          if (learner.classifyInstance(testing.instance(i)) == testing.instance(i).classValue()) {
            right++;
          }
        }
        System.out.printf(
            Locale.ROOT,
            "%s %d %.10f %.6f%n",
            learner.getClass().getSimpleName(),
            fold,
            100.0 * right / testing.numInstances(),
            seconds);
        System.out.flush();
      }
    }
  }

  private WekaFolds() {}
}
