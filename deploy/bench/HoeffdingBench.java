import com.yahoo.labs.samoa.instances.Attribute;
import com.yahoo.labs.samoa.instances.DenseInstance;
import com.yahoo.labs.samoa.instances.Instance;
import com.yahoo.labs.samoa.instances.Instances;
import com.yahoo.labs.samoa.instances.InstancesHeader;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import moa.classifiers.trees.HoeffdingTree;
import moa.core.Utils;

/**
 * MOA's Hoeffding tree over a stream that is in memory: each record is answered, then learned.
 *
 * <p>The argument is a file: big-endian integers for the number of records, of attributes and of classes, then
 * for each attribute how many values it has; then for each record a byte for each attribute and one for the
 * class. Every line of standard input names a kind of leaf ("MC", "NB", "NBAdaptive") and asks for one pass
 * with a fresh tree; a line of standard output tells how many records there were, the CPU seconds of this thread
 * and how many answers were right. Whoever asks several times has a JVM that is warm.
 */
public final class HoeffdingBench {
  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

  private final InstancesHeader header;
  private final List<Instance> records;

  private HoeffdingBench(InstancesHeader header, List<Instance> records) {
    this.header = header;
    this.records = records;
  }

  public static void main(String[] arguments) throws IOException {
    HoeffdingBench bench = read(Path.of(arguments[0]));
    BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
    for (String leaf = orders.readLine(); leaf != null; leaf = orders.readLine()) {
      System.out.println(bench.pass(leaf));
      System.out.flush();
    }
  }

  private static HoeffdingBench read(Path file) throws IOException {
    try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file), 1 << 20))) {
      int count = in.readInt();
      int width = in.readInt();
      int classes = in.readInt();
      List<Attribute> attributes = new ArrayList<>();
      for (int a = 0; a < width; a++) {
        attributes.add(new Attribute("a" + a, names("v", in.readInt())));
      }
      attributes.add(new Attribute("class", names("c", classes)));
      Instances described = new Instances("stream", attributes, 0);
      described.setClassIndex(width);
      InstancesHeader header = new InstancesHeader(described);
      List<Instance> records = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        double[] values = new double[width + 1];
        for (int a = 0; a <= width; a++) {
          values[a] = in.readUnsignedByte();
        }
        Instance record = new DenseInstance(1.0, values);
        record.setDataset(header);
        records.add(record);
      }
      return new HoeffdingBench(header, records);
    }
  }

  private static List<String> names(String prefix, int count) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      names.add(prefix + i);
    }
    return names;
  }

  private String pass(String leaf) {
    HoeffdingTree tree = new HoeffdingTree();
    tree.leafpredictionOption.setChosenLabel(leaf);
    tree.setModelContext(header);
    tree.prepareForUse();
    System.gc(); // what the last pass left behind is not this one's
    int correct = 0;
    long began = CLOCK.getCurrentThreadCpuTime();
    for (Instance record : records) {
      if (Utils.maxIndex(tree.getVotesForInstance(record)) == (int) record.classValue()) {
        correct++;
      }
      tree.trainOnInstance(record);
    }
    double seconds = (CLOCK.getCurrentThreadCpuTime() - began) / 1e9;
    return String.format(Locale.ROOT, "%d %.9f %d", records.size(), seconds, correct);
  }
}
