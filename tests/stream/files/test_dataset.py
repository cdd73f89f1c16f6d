"""Reading CSV files: what becomes an instance, what a schema adds, and what is said when it cannot be."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from learners.schema import Attribute, AttributeType
from stream.files.csv_file import DataError
from stream.files.dataset import read_dataset
from stream.files.declaration import name_of

WEATHER = "outlook,wind,class\nsunny,weak,P\nrain,,N\n"
Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def schema(write: Write) -> Path:
    columns = [
        {"name": "age", "type": "numeric", "values": None},
        {"name": "hair", "type": "nominal", "values": ["dark", "red"]},
    ]
    return write("SCHEMA.json", json.dumps({"people": {"columns": columns, "class_values": ["no", "yes"]}}))


def test_the_last_column_is_the_label_and_an_empty_cell_is_missing(write: Write) -> None:
    data = read_dataset(write("weather.csv", WEATHER))
    assert data.label == "class"
    assert list(data.instances) == [
        ({"outlook": "sunny", "wind": "weak"}, "P"),
        ({"outlook": "rain", "wind": None}, "N"),
    ]
    assert data.schema.attributes == (Attribute("outlook"), Attribute("wind"))
    assert data.schema.classes == ()


def test_a_compressed_file_reads_like_a_plain_one(write: Write) -> None:
    plain = read_dataset(write("weather.csv", WEATHER))
    packed = read_dataset(write("weather.csv.gz", gzip.compress(WEATHER.encode())))
    assert list(packed.instances) == list(plain.instances)


def test_another_column_can_be_the_label(write: Write) -> None:
    data = read_dataset(write("weather.csv", WEATHER), label="outlook")
    assert data.instances[0] == ({"wind": "weak", "class": "P"}, "sunny")


def test_without_a_schema_a_column_of_numbers_is_numeric_and_the_label_is_text(write: Write) -> None:
    data = read_dataset(write("a.csv", "x,y,class\n1.50,1,0\n,b,1\n"))
    assert list(data.instances) == [({"x": 1.5, "y": "1"}, "0"), ({"x": None, "y": "b"}, "1")]
    assert data.numeric == ("x",)


def test_a_column_can_be_kept_as_text(write: Write) -> None:
    data = read_dataset(write("a.csv", "x,class\n1.50,0\n"), text=["x"])
    assert data.instances[0] == ({"x": "1.50"}, "0")
    assert data.numeric == ()


def test_a_column_named_id_is_an_attribute_here(write: Write) -> None:
    assert read_dataset(write("a.csv", "id,class\na,0\n")).instances[0] == ({"id": "a"}, "0")


def test_a_byte_order_mark_blank_lines_and_quoted_commas_are_no_matter(write: Write) -> None:
    data = read_dataset(write("a.csv", '\ufeffx,class\r\n\r\n"a,b",P\r\n\r\n'))
    assert list(data.instances) == [({"x": "a,b"}, "P")]


def test_a_row_knows_its_line(write: Write) -> None:
    data = read_dataset(write("a.csv", "x,class\n\na,P\nb,N\n"))
    assert [row.line for row in data.instances.rows] == [3, 4]


def test_a_schema_gives_order_values_classes_and_numbers(write: Write, schema: Path) -> None:
    path = write("people.csv", "hair,extra,age,class\ndark,u,41.5,yes\nred,v,7,no\nred,v,,no\n")
    data = read_dataset(path, schema=schema)
    assert data.schema.attributes == (
        Attribute("age", AttributeType.NUMERIC),
        Attribute("hair", values=("dark", "red")),
        Attribute("extra"),
    )
    assert data.schema.classes == ("no", "yes")
    assert data.numeric == ("age",)
    assert [instance.values["age"] for instance in data.instances] == [41.5, 7, None]
    assert list(data.instances[0].values) == ["age", "hair", "extra"]


@pytest.mark.parametrize("text", ["old", "nan", "inf", "1e999", "1_000", "0x10"])
def test_what_is_no_number_stays_text(text: str, write: Write, schema: Path) -> None:
    data = read_dataset(write("people.csv", f"age,hair,class\n{text},dark,yes\n"), schema=schema)
    assert data.instances[0].values["age"] == text


def test_a_declared_column_that_is_the_label_gives_the_classes(write: Write, schema: Path) -> None:
    data = read_dataset(write("people.csv", "age,hair,class\n41,dark,yes\n"), schema=schema, label="hair")
    assert data.schema.classes == ("dark", "red")
    assert [attribute.name for attribute in data.schema.attributes] == ["age", "class"]


def test_a_limit_stops_the_reading_before_what_comes_later(write: Write) -> None:
    data = read_dataset(write("a.csv", "x,class\na,P\nb,N\nragged\n"), limit=2)
    assert len(data.instances) == 2


def test_shuffling_keeps_every_row_and_is_the_same_for_a_seed(write: Write) -> None:
    text = "x,class\n" + "".join(f"{n},{n % 3}\n" for n in range(50))
    rows = read_dataset(write("a.csv", text)).instances
    assert list(rows.shuffled(1)) == list(rows.shuffled(1))
    assert list(rows.shuffled(1)) != list(rows.shuffled(2)) != list(rows)
    assert sorted(rows.shuffled(1), key=str) == sorted(rows, key=str)


def test_a_file_of_many_values_and_classes_is_within_its_own_limits(write: Write) -> None:
    text = "x,class\n" + "".join(f"{n},{n}\n" for n in range(1_500))
    limits = read_dataset(write("a.csv", text)).limits
    assert limits.max_values_per_attribute >= 1_500
    assert limits.max_classes >= 1_500


@pytest.mark.parametrize("name", ["iris.csv", "data/iris.csv.gz", "iris", "iris.jsonl", "iris.ndjson.gz"])
def test_the_entry_of_a_file_is_its_name_without_endings(name: str) -> None:
    assert name_of(Path(name)) == "iris"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty. The first row must name the columns"),
        ("\n\n", "is empty"),
        ("x,class\n", "has a header but no rows"),
        ("x;class\n1;P\n", 'has only the column "x;class"'),
        ("x,x,class\n1,2,P\n", 'has two columns "x"'),
        (",x,class\n1,2,P\n", "column 1"),
        ("x,class\na,P\nb\n", "line 3 has 1 fields where the header has 2"),
        ("x,class\na,P\n\nb,c,N\n", "line 4 has 3 fields where the header has 2"),
        ('x,class\n"a,P\n', "is not CSV: unexpected end of data"),
        (b"x,class\n\xff,P\n", "is not UTF-8 text"),
    ],
)
def test_a_file_that_is_not_what_it_should_be(content: str | bytes, said: str, write: Write) -> None:
    with pytest.raises(DataError) as caught:
        read_dataset(write("a.csv", content))
    assert said in str(caught.value)
    assert caught.value.exit_code == 65


@pytest.mark.parametrize(
    "content", [WEATHER.encode(), gzip.compress(WEATHER.encode())[:-12], b"\x1f\x8b\x08"]
)
def test_a_gzip_that_cannot_be_read(content: bytes, write: Write) -> None:
    with pytest.raises(DataError, match="is damaged or not compressed with gzip") as caught:
        read_dataset(write("weather.csv.gz", content))
    assert caught.value.exit_code == 65


def test_what_the_command_line_names_must_be_there(write: Write, schema: Path, tmp_path: Path) -> None:
    path = write("weather.csv", WEATHER)
    for arguments, said in (
        ({"path": tmp_path / "wether.csv"}, 'Did you mean "weather.csv"?'),
        ({"path": tmp_path / "none" / "a.csv"}, "there is no file"),
        ({"path": tmp_path}, "cannot be read"),
        (
            {"path": path, "label": "outlok"},
            'has no column "outlok". Did you mean "outlook"? It has: outlook',
        ),
        ({"path": path, "schema": tmp_path / "SCHEMAS.json"}, 'Did you mean "SCHEMA.json"?'),
        ({"path": path, "schema": schema}, 'has no entry "weather"'),
    ):
        with pytest.raises(DataError) as caught:
            read_dataset(**arguments)
        assert said in str(caught.value)
        assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"people": []}', '{"people": {"columns": [{"type": "odd"}]}}']
)
def test_a_schema_that_is_none(content: str, write: Write) -> None:
    path = write("people.csv", "age,hair,class\n41,dark,yes\n")
    with pytest.raises(DataError, match="is not a schema") as caught:
        read_dataset(path, schema=write("other.json", content))
    assert caught.value.exit_code == 65


def test_a_schema_of_another_file(write: Write, schema: Path) -> None:
    with pytest.raises(
        DataError, match=r'declares a column "hair" that .* does not have\. Did you mean "hare"'
    ):
        read_dataset(write("people.csv", "age,hare,class\n41,dark,yes\n"), schema=schema)


@pytest.mark.data
def test_the_real_files_fit_their_schema(data_dir: Path) -> None:
    data = read_dataset(data_dir / "anneal.csv", schema=data_dir / "SCHEMA.json")
    assert (len(data.instances), len(data.schema.attributes), len(data.numeric)) == (898, 38, 6)
