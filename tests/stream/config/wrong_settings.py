"""Wrong configurations, each with the line and the message it must be refused with."""

from tests.stream.config.samples import (
    SMALLEST,
)


def after_agent(lines: str) -> str:
    return f"{SMALLEST}{lines}"


WRONG = {
    "unknown setting at the top": (
        after_agent("[metric]"),
        4,
        'unknown setting "metric". Did you mean "metrics"? Allowed: agent, engine, instance, kafka, batch',
    ),
    "unknown setting in a table": (
        after_agent("[metrics]\nprot = 1"),
        5,
        'metrics: unknown setting "prot". Did you mean "port"? Allowed: enabled, host, port',
    ),
    "unknown setting of an agent": (
        after_agent('lerner = "nt"'),
        4,
        'agent "loans": unknown setting "lerner". Did you mean "learner"? Allowed: name, input',
    ),
    "unknown setting of topics": (
        after_agent('topics.prediction = "x"'),
        4,
        'agent "loans": topics: unknown setting "prediction". Did you mean "predictions"?',
    ),
    "wrong type": (
        after_agent("label = 5"),
        4,
        'agent "loans": "label" must be a string that is not empty, not 5',
    ),
    "wrong type of a flag": (
        after_agent('[metrics]\nenabled = "yes"'),
        5,
        'metrics: "enabled" must be true or false, not "yes"',
    ),
    "a number in quotes": (after_agent('[metrics]\nport = "9464"'), 5, 'from 0 to 65535, not "9464"'),
    "empty string": (after_agent('id = ""'), 4, '"id" must be a string that is not empty, not ""'),
    "a date": (after_agent("group = 2020-01-01"), 4, "not a date or time"),
    "below the range": (
        after_agent("[batch]\nmax_batch = 0"),
        5,
        'batch: "max_batch" must be a whole number from 1 to 1000000, not 0',
    ),
    "above the range": (
        after_agent("[metrics]\nport = 65536"),
        5,
        'metrics: "port" must be a whole number from 0 to 65535, not 65536',
    ),
    "no range above": (
        after_agent("[limits]\nmax_text = 0"),
        5,
        'limits: "max_text" must be a whole number of at least 1, not 0',
    ),
    "wrong choice": (
        after_agent('scope = "topics"'),
        4,
        'agent "loans": "scope" must be "topic" or "partition", not "topics". Did you mean "topic"?',
    ),
    "wrong engine": (
        'engine = "confluence"\n' + SMALLEST,
        1,
        '"engine" must be "confluent" or "faust", not "confluence"',
    ),
    "no table": ("metrics = 5\n" + SMALLEST, 1, '"metrics" must be a table, not 5'),
    "one bracket": ('[agent]\nname = "a"\ninput = "b"', 1, "not a table. Write [[agent]], with two brackets"),
    "no agent table": ("agent = [5]", 1, 'number 1 of "agent" must be a table, not 5'),
    "no agent": ("[kafka]", 1, "there is no agent. Add one: [[agent]] with a name and an input"),
    "empty list of agents": ("\nagent = []", 2, "there is no agent"),
    "missing name": ('[[agent]]\ninput = "a"', 1, 'agent 1: "name" is missing. What the agent is called'),
    "missing input": ('\n[[agent]]\nname = "a"', 2, 'agent "a": "input" is missing. The topic to learn from'),
    "one name twice": (
        after_agent('[[agent]]\ninput = "b"\nname = "loans"'),
        6,
        'agent "loans": the agent on line 1 has this name too. Rename one',
    ),
    "one group twice": (
        after_agent('[[agent]]\ninput = "b"\nname = "b"\ngroup = "loans"'),
        7,
        'agent "b": the group "loans" is that of agent "loans". Each agent needs its own',
    ),
    "illegal name of an agent": (
        '[[agent]]\nname = "a b"\ninput = "c"',
        2,
        "the name must be made of letters",
    ),
    "illegal input": ('[[agent]]\nname = "a"\ninput = "ü"', 3, 'the topic "ü" must be made of letters'),
    "the topic ..": ('[[agent]]\nname = "a"\ninput = ".."', 3, 'and not be "." or ".."'),
    "illegal output": (
        after_agent('topics.predictions = "a/b"'),
        4,
        'the topic "a/b" must be made of letters',
    ),
    "long topic": (
        after_agent(f'topics.journal = "{"x" * 250}"'),
        4,
        "has 250 characters. Kafka takes 249 at most",
    ),
    "an output that is the input": (
        after_agent('topics.predictions = "applications"'),
        4,
        'the topic "applications" cannot be predictions: it is its own input. Rename one',
    ),
    "an input that is an output": (
        after_agent('[[agent]]\nname = "b"\ninput = "applications.predictions"'),
        6,
        'agent "b": the topic "applications.predictions" cannot be input: it is agent "loans"\'s predictions',
    ),
    "one topic for two outputs": (
        after_agent('[agent.topics]\npredictions = "x"\ndead_letters = "x"'),
        6,
        'the topic "x" cannot be dead_letters: it is its own predictions',
    ),
    "a shared journal": (
        after_agent('[[agent]]\nname = "b"\ninput = "c"\ntopics.journal = "loans.journal"'),
        7,
        'agent "b": the topic "loans.journal" cannot be shared: it is agent "loans"\'s journal',
    ),
    "shared snapshots": (
        after_agent('[[agent]]\nname = "b"\ninput = "c"\ntopics.snapshots = "loans.snapshots"'),
        7,
        'agent "b": the topic "loans.snapshots" cannot be shared: it is agent "loans"\'s snapshots',
    ),
    "snapshots that two agents name": (
        after_agent(
            'topics.snapshots = "s"\n[[agent]]\nname = "b"\ninput = "c"\n[agent.topics]\nsnapshots = "s"'
        ),
        9,
        'agent "b": the topic "s" cannot be shared: it is agent "loans"\'s snapshots',
    ),
    "names that are one to the broker": (
        after_agent('topics.journal = "applications_predictions"'),
        4,
        'to Kafka "applications_predictions" is the same name as "applications.predictions"',
    ),
    "unknown learner": (
        after_agent('learner = "id5"'),
        4,
        'agent "loans": unknown learner "id5". Did you mean "id5r"? Allowed: id5r, id4, nt',
    ),
    "unknown option": (
        after_agent("options.signifcance = 0.1"),
        4,
        'agent "loans": the learner "id5r" has no option "signifcance". Did you mean "significance"?',
    ),
    "option out of range": (
        after_agent("[agent.options]\nsignificance = 1"),
        5,
        'agent "loans": options: "significance" must be a number above 0 and below 1 or "none", not 1',
    ),
    "wrong choice of an option": (
        after_agent('[agent.options]\nselection = "escore"'),
        5,
        'options: "selection" must be "e-score" or "gain-ratio", not "escore". Did you mean "e-score"?',
    ),
    "options that do not go together": (
        after_agent('[agent.options]\nselection = "gain-ratio"\nwindow = 5'),
        4,
        'agent "loans": options: gain-ratio and a window do not go together',
    ),
    "options that are no table": (after_agent("options = 5"), 4, '"options" must be a table, not 5'),
    "label and id in one": (after_agent('id = "class"'), 4, '"class" cannot be both the label and the id'),
    "the label as an attribute": (
        after_agent("[agent.schema.attributes]\nclass = {}"),
        5,
        'schema: attribute "class": it is the agent\'s label, which is not learned from',
    ),
    "the id as an attribute": (
        after_agent('[[agent.schema.attributes]]\nname = "id"'),
        5,
        'attribute "id": it is the agent\'s id, which is not learned from',
    ),
    "an attribute twice": (
        after_agent('[agent.schema]\nattributes = [\n{name = "a"},\n{name = "a"}]'),
        7,
        'attribute "a": the attribute on line 6 has this name too',
    ),
    "a value twice": (
        after_agent('[agent.schema.attributes]\na = { values = ["x",\n"x"] }'),
        6,
        'attribute "a": "x" is in "values" twice. Remove one',
    ),
    "a class twice": (after_agent('schema.classes = ["x", "x"]'), 4, '"x" is in "classes" twice'),
    "values of a number": (
        after_agent('[agent.schema.attributes]\na = { type = "numeric", values = ["1"] }'),
        5,
        'attribute "a": a numeric attribute has no list of values',
    ),
    "an unknown type of attribute": (
        after_agent('[agent.schema.attributes]\na = { type = "number" }'),
        5,
        'attribute "a": "type" must be "nominal" or "numeric", not "number". Did you mean "numeric"?',
    ),
    "an unknown setting of an attribute": (
        after_agent("[agent.schema.attributes]\na = { vales = [] }"),
        5,
        'attribute "a": unknown setting "vales". Did you mean "values"?',
    ),
    "a value that is no string": (
        after_agent('[agent.schema.attributes]\na = { values = ["x",\n1] }'),
        6,
        'attribute "a": number 2 of "values" must be a string, not 1',
    ),
    "an attribute with two names": (
        after_agent('[agent.schema.attributes]\na.name = "b"'),
        5,
        'attribute "a": "name" must be "a", like its key',
    ),
    "an attribute that is no table": (
        after_agent("[agent.schema.attributes]\na = 5"),
        5,
        'number 1 of "attributes" must be a table, not 5',
    ),
    "a value that means none": (
        after_agent('[agent.schema]\nmissing_values = ["?"]\nattributes.a.values = ["?"]'),
        6,
        'attribute "a": "?" is one of the schema\'s missing_values',
    ),
    "closed without values": (
        after_agent("[agent.schema.attributes]\na = { open = false }"),
        5,
        '"open" is false, but there are no values. List them, or leave it out',
    ),
    "closed without classes": (
        after_agent("schema.open_classes = false"),
        4,
        '"open_classes" is false, but there are no classes',
    ),
    "closed without attributes": (after_agent("schema.open = false"), 4, "but there are no attributes"),
    "more classes than the limit": (
        after_agent('schema.classes = ["a", "b"]\n[limits]\nmax_classes = 1'),
        4,
        '"classes" has 2 entries, more than 1. Raise max_classes in [limits]',
    ),
    "more values than the limit": (
        after_agent('schema.attributes.a.values = ["a", "b"]\n[limits]\nmax_values_per_attribute = 1'),
        4,
        "more than 1. Raise max_values_per_attribute",
    ),
    "more attributes than the limit": (
        after_agent("schema.attributes = { a = {}, b = {} }\n[limits]\nmax_attributes = 1"),
        4,
        "more than 1. Raise max_attributes",
    ),
    "a server without a host": (after_agent('[kafka]\nbootstrap_servers = ":9092"'), 5, 'not ":9092"'),
    "a port out of range": (after_agent('[kafka]\nbootstrap_servers = "a:1,b:70000"'), 5, 'not "b:70000"'),
    "a comma too many": (after_agent('[kafka]\nbootstrap_servers = "a:1,"'), 5, "must be host:port"),
    "a property that is a list": (
        after_agent("[kafka.properties]\ndebug = []"),
        5,
        'kafka: properties: "debug" must be a string, a number, true or false, not a list',
    ),
    "a property twice": (
        after_agent('[kafka.properties]\n"client.id" = "a"\nclient.id = "b"'),
        6,
        '"client.id" is set twice',
    ),
    "properties that are no table": (
        after_agent("[kafka]\nproperties = 1"),
        5,
        '"properties" must be a table',
    ),
    "a message that outlives its transaction": (
        after_agent('[kafka.properties]\ntransaction.timeout.ms = 1000\nmessage.timeout.ms = "1001"'),
        6,
        '"message.timeout.ms" is 1001, but "transaction.timeout.ms" is 1000. Set',
    ),
    "a message that outlives the usual transaction": (
        after_agent("[kafka.properties]\ndelivery.timeout.ms = 15001"),
        5,
        '"delivery.timeout.ms" is 15001, but "transaction.timeout.ms" is 15000 (the default)',
    ),
    "a transaction shorter than the client takes": (
        after_agent('[kafka.properties]\n"transaction.timeout.ms" = 999'),
        5,
        '"transaction.timeout.ms" is 999. Set it to at least 1000',
    ),
}
