import com.yahoo.labs.samoa.instances.Attribute;
import com.yahoo.labs.samoa.instances.DenseInstance;
import com.yahoo.labs.samoa.instances.Instance;
import com.yahoo.labs.samoa.instances.Instances;
import com.yahoo.labs.samoa.instances.InstancesHeader;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import moa.classifiers.AbstractClassifier;
import moa.classifiers.trees.HoeffdingAdaptiveTree;
import moa.classifiers.trees.HoeffdingTree;
import moa.core.Utils;

/**
 * A tree of MOA's over records with numbers, values and holes: each is answered, then learned.
 *
 * <p>The first argument is a file: big-endian integers for the number of records, of attributes and of classes,
 * then for each attribute how many values it has, 0 for a number; then for each record a double for each attribute,
 * NaN where it is missing, and one for the class. The second is the learner. The third, if any, is for how many seconds
 * it is run over and over before it counts, so that what matters has been compiled. Standard output has how many records
 * there were, the CPU seconds of this thread in the last run, and how many answers were right.
 */
public final class MixedBench {
  public static void main(String[] arguments) throws IOException {
    ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(Path.of(arguments[0])), 1 << 20))) {
      int count = in.readInt();
      int width = in.readInt();
      int classes = in.readInt();
      List<Attribute> attributes = new ArrayList<>();
      for (int a = 0; a < width; a++) {
        int values = in.readInt();
        attributes.add(values == 0 ? new Attribute("a" + a) : new Attribute("a" + a, names("v", values)));
      }
      attributes.add(new Attribute("class", names("c", classes)));
      Instances described = new Instances("stream", attributes, 0);
      described.setClassIndex(width);
      InstancesHeader header = new InstancesHeader(described);
      List<Instance> records = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        double[] values = new double[width + 1];
        for (int a = 0; a <= width; a++) {
          values[a] = in.readDouble();
        }
        Instance record = new DenseInstance(1.0, values);
        record.setDataset(header);
        records.add(record);
      }
      double warm = arguments.length > 2 ? Double.parseDouble(arguments[2]) : 0;
      double spent = 0;
      double seconds;
      int correct;
      do {
        AbstractClassifier tree =
            arguments[1].equals("HoeffdingAdaptiveTree") ? new HoeffdingAdaptiveTree() : new HoeffdingTree();
        tree.setModelContext(header);
        tree.prepareForUse();
        correct = 0;
        long began = clock.getCurrentThreadCpuTime();
        for (Instance record : records) {
          if (Utils.maxIndex(tree.getVotesForInstance(record)) == (int) record.classValue()) {
            correct++;
          }
          tree.trainOnInstance(record);
        }
        seconds = (clock.getCurrentThreadCpuTime() - began) / 1e9;
        spent += seconds;
      } while (spent < warm);
      System.out.println(String.format(Locale.ROOT, "%d %.9f %d", records.size(), seconds, correct));
    }
  }

  private static List<String> names(String prefix, int count) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      names.add(prefix + i);
    }
    return names;
  }
}
