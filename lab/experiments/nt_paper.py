"""The tables of Su and Zhang 2006, as they are printed."""

from typing import NamedTuple


class Uci(NamedTuple):
    """A row of Table 1: the file it is in here, accuracies in percent, and the ratios of NT to C4.5."""

    file: str
    nt: float
    c45: float
    nb: float
    size: float
    time: float


class Text(NamedTuple):
    """A row of Table 3: the file it is in here, if it is, accuracies, seconds, and the ratio of sizes."""

    file: str
    nt: float
    c45: float
    nb: float
    nt_seconds: float
    nb_seconds: float
    c45_seconds: float
    size: float


TABLE_1: dict[str, Uci] = {
    "Letter": Uci("letter.csv", 85.66, 88.03, 64.07, 1.18, 0.25),
    "Mushroom": Uci("mushroom.csv", 100, 100, 95.52, 1.10, 1.02),
    "Waveform": Uci("waveform.csv", 76.78, 75.25, 80.01, 1.13, 0.23),
    "Sick": Uci("sick.csv", 98.54, 98.81, 92.89, 0.71, 0.27),
    "Hypothyroid": Uci("hypothyroid.csv", 99.34, 99.58, 95.29, 0.81, 0.76),
    "Chess": Uci("kr-vs-kp.csv", 97.34, 99.44, 87.79, 0.89, 0.99),
    "Splice": Uci("splice.csv", 94.24, 94.08, 95.42, 0.81, 0.31),
    "Segment": Uci("segment.csv", 95.34, 96.79, 80.17, 1.40, 0.33),
    "German-C": Uci("credit-g.csv", 73.01, 71.13, 75.16, 0.42, 0.36),
    "Vowel": Uci("vowel.csv", 76.14, 80.08, 62.9, 1.15, 0.45),
    "Anneal": Uci("anneal.csv", 98.47, 98.57, 86.59, 1.11, 0.16),
    "Vehicle": Uci("vehicle.csv", 69.36, 72.28, 44.68, 0.94, 0.49),
    "Diabetes": Uci("diabetes.csv", 73.96, 74.49, 75.75, 0.77, 0.41),
    "Wisconsin-b": Uci("breast-w.csv", 94.09, 94.89, 96.12, 0.93, 0.44),
    "Credit-A": Uci("credit-a.csv", 85.17, 85.75, 77.81, 1.30, 0.37),
    "Soybean": Uci("soybean.csv", 91.9, 92.55, 92.2, 1.22, 0.72),
    "Balance": Uci("balance-scale.csv", 78.92, 77.82, 90.53, 0.94, 0.62),
    "Vote": Uci("vote.csv", 95.17, 96.27, 90.21, 0.62, 0.76),
    "Horse-Colic": Uci("colic.csv", 85.27, 83.28, 77.39, 0.47, 0.47),
    "Ionosphere": Uci("ionosphere.csv", 88.89, 89.74, 82.17, 1.00, 0.25),
    "Primary-t": Uci("primary-tumor.csv", 38.76, 41.01, 47.2, 0.86, 0.91),
    "Heart-c": Uci("heart-c.csv", 78.98, 76.64, 82.65, 0.88, 0.56),
    "Breast-Can": Uci("breast-cancer.csv", 72.84, 75.26, 72.94, 2.30, 0.95),
    "Heart-s": Uci("heart-statlog.csv", 82.89, 78.15, 83.59, 0.63, 0.34),
    "Audiology": Uci("audiology.csv", 75.67, 76.69, 71.4, 1.19, 1.14),
    "Glass": Uci("glass.csv", 70.94, 67.63, 49.45, 1.02, 0.47),
    "Sonar": Uci("sonar.csv", 71.81, 73.61, 67.71, 1.35, 0.24),
    "Autos": Uci("autos.csv", 74.02, 78.64, 57.67, 1.48, 0.54),
    "Hepatitis": Uci("hepatitis.csv", 80.16, 77.02, 83.29, 0.53, 0.67),
    "Iris": Uci("iris.csv", 95.4, 94.73, 95.53, 1.03, 1.07),
    "Lymph": Uci("lymph.csv", 75.17, 75.84, 83.13, 0.85, 0.70),
    "Zoo": Uci("zoo.csv", 93.07, 92.61, 94.97, 1.20, 0.63),
    "Labor": Uci("labor.csv", 83.77, 81.23, 93.87, 0.83, 0.79),
}
TABLE_1_MEAN = Uci("", 83.37, 83.57, 79.58, 1.00, 0.56)

TABLE_3: dict[str, Text] = {
    "Ohscal": Text("text-ohscal.wc.csv.gz", 72.48, 71.35, 70.86, 560, 643, 32694, 0.42),
    "La1": Text("text-la1s.wc.csv.gz", 75.5, 77.22, 83.21, 419, 414, 7799, 0.55),
    "La2": Text("text-la2s.wc.csv.gz", 77.33, 76.39, 84.55, 467, 390, 6820, 0.58),
    "Fbis": Text("text-fbis.wc.csv.gz", 76.74, 74.06, 67.4, 24, 21, 457, 0.63),
    "Cora36": Text("", 39.39, 46.94, 61.78, 106, 25, 1764, 0.88),
    "Re1": Text("", 83.47, 79, 75.14, 30, 15, 512, 0.74),
    "Re0": Text("text-re0.wc.csv.gz", 76.01, 74.73, 71.02, 16, 10, 252, 0.74),
    "Wap": Text("text-wap.wc.csv.gz", 67.44, 62.44, 80.45, 70, 45, 2180, 0.73),
    "Oh0": Text("text-oh0.wc.csv.gz", 81.86, 82.56, 87.34, 7, 7, 129, 0.69),
    "Oh10": Text("text-oh10.wc.csv.gz", 78.19, 73.62, 80.19, 8, 8, 161, 0.54),
    "Oh15": Text("", 72.19, 73.7, 80.81, 7, 6, 138, 0.80),
    "Oh5": Text("text-oh5.wc.csv.gz", 84.3, 81.58, 82.45, 5, 6, 88, 0.68),
    "Tr31": Text("text-tr31.wc.csv.gz", 94.07, 92.77, 88.45, 12, 28, 188, 0.96),
    "Tr11": Text("text-tr11.wc.csv.gz", 86.95, 77.58, 67.63, 5, 7, 73, 0.74),
    "Tr12": Text("text-tr12.wc.csv.gz", 81.44, 83.05, 72.85, 3, 4, 33, 0.85),
    "Tr21": Text("text-tr21.wc.csv.gz", 88.68, 82.44, 52.34, 4, 7, 81, 0.54),
    "Tr23": Text("text-tr23.wc.csv.gz", 97.57, 91.12, 59.29, 1, 3, 12, 0.98),
    "Tr41": Text("text-tr41.wc.csv.gz", 93.73, 91.35, 91.81, 8, 18, 153, 0.89),
    "Tr45": Text("text-tr45.wc.csv.gz", 90.29, 90.14, 79.42, 10, 16, 101, 0.98),
}
TABLE_3_MEAN = Text("", 79.88, 78.00, 75.63, 93, 88, 2823, 0.73)

TABLE_2 = {("NT", "C4.5"): (2, 27, 4), ("NT", "NB"): (15, 11, 7), ("C4.5", "NB"): (15, 9, 9)}
"""Wins, ties and losses of the first against the second."""
TABLE_4 = {("NT", "C4.5"): (4, 14, 1), ("NT", "NB"): (9, 4, 6), ("C4.5", "NB"): (7, 6, 6)}

LEFT_OUT = {"splice.csv": ("Instance_name",), "zoo.csv": ("animal",)}
"""Columns that identify an instance. With them no tree generalises, and the paper's do."""
