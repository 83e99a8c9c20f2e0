"""Descriptions and examples in the OpenAPI document, from the words of the contract.

Bodies' examples are composed of their fields'. A field's own example goes before that of its name. Without one, a field
that may be absent is absent, and one that may be null is null.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ipucloud.contract.descriptions import DESCRIPTIONS
from ipucloud.contract.examples.all import EXAMPLES
from ipucloud.contract.examples.story import COMPOSED
from ipucloud.kernel.errors import REGISTRY, VALIDATION_FAILED

Schema = dict[str, Any]
_SCHEMAS = "#/components/schemas/"
_EXAMPLES = "#/components/examples/"
_MONEY = {f"{_SCHEMAS}Money", f"{_SCHEMAS}AmountOfMoney"}
_CHANGED_BY_OPERATIONS = {"cluster", "partition"}
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def describe(schemas: Mapping[str, Schema]) -> None:
    """Give each field without a description the one of its name."""
    for component, schema in schemas.items():
        for field, value in schema.get("properties", {}).items():
            words = DESCRIPTIONS.get(f"{component}.{field}", DESCRIPTIONS.get(field))
            if words is not None:
                value.setdefault("description", words)


def drop_repeated(document: Schema) -> None:
    """Remove what restates: a title that is the field's name, and a parameter's words where they stand twice."""
    for schema in document["components"]["schemas"].values():
        for field, value in schema.get("properties", {}).items():
            _drop_title(value, field)
    for path in document["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", ()):
                schema = parameter["schema"]
                _drop_title(schema, parameter["name"])
                if "description" in schema and schema["description"] == parameter.get("description"):
                    del schema["description"]


def _drop_title(schema: Schema, name: str) -> None:
    if schema.get("title", "").replace(" ", "_").lower() == name.replace("-", "_").lower():
        del schema["title"]


def exemplify(document: dict[str, Any]) -> None:
    """Give every body, answer and message in JSON an example, and every refusal one for each of its codes.

    Raises LookupError for a field without an example.
    """
    composer = _Composer(document["components"]["schemas"])
    examples = {kind.code: {"summary": kind.title, "value": composer.problem(kind.code)} for kind in REGISTRY.values()}
    for media in _contents(document["paths"]):
        name = media["schema"].get("$ref", "").removeprefix(_SCHEMAS)
        if name and "examples" not in media:
            examples[name] = {"value": composer.component(name)}
            media["examples"] = {"example": {"$ref": _EXAMPLES + name}}
    for webhook in document["webhooks"].values():
        media = webhook["post"]["requestBody"]["content"]["application/json"]
        media["examples"] = {"example": {"value": composer.message(media["schema"])}}
    document["components"]["examples"] = examples


def refusals(codes: Iterable[str]) -> dict[str, Any]:
    """The examples of a response with one of these codes."""
    return {code: {"$ref": _EXAMPLES + code} for code in codes}


def _contents(paths: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for path in paths.values():
        for operation in path.values():
            for part in (operation.get("requestBody", {}), *operation["responses"].values()):
                yield from part.get("content", {}).values()


def _candidates(schema: Schema, component: str, field: str) -> Iterator[object]:
    """The examples of a field, its own first. None: it is null, or absent."""
    if (own := f"{component}.{field}") in EXAMPLES:
        yield EXAMPLES[own]
    yield from schema.get("examples", [])[:1]
    if field in EXAMPLES:
        yield EXAMPLES[field]


def _id_of(noun: str) -> object:
    """The id of the examples' object of this kind, or that of their cluster."""
    model = "".join(map(str.title, noun.split("_")))
    models = (f"{model}Out.id", f"{model}DetailOut.id", f"{noun}_id", "subject_id")
    return next(EXAMPLES[each] for each in models if each in EXAMPLES)


class _Composer:
    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self._schemas = schemas

    def problem(self, code: str) -> dict[str, Any]:
        kind = REGISTRY[code]
        value: dict[str, Any] = self.component("Problem")
        value |= {"type": kind.page, "title": kind.title, "status": kind.status, "code": code}
        value |= {"detail": f"{kind.title}.", "retryable": kind.retryable}
        if kind is not VALIDATION_FAILED:
            del value["errors"]
        return value

    def message(self, schema: Schema) -> Any:
        """The body of a webhook's message: the general one, with what is the type's own."""
        general, *own = schema.get("allOf", [schema])
        value = self._composed(general, "message")
        for part in own:
            self._specialise(value, part)
        return value

    def _specialise(self, value: dict[str, Any], schema: Schema) -> None:
        for field, member in schema["properties"].items():
            if "properties" in member:
                self._specialise(value[field], member)
            else:
                value[field] = self._composed(member, field) if len(member) == 1 else {}
            if field == "subject_type":
                value["subject_id"] = _id_of(value[field])
                value["operation_id"] = value["operation_id"] if value[field] in _CHANGED_BY_OPERATIONS else None

    def component(self, name: str) -> Any:
        schema = self._schemas[name]
        if "oneOf" in schema:
            return self._composed(schema["oneOf"][0], name)
        if "properties" not in schema:
            return schema["enum"][0]
        required = schema.get("required", ())
        members = ((field, self._field(value, name, field)) for field, value in schema["properties"].items())
        return {field: value for field, value in members if value is not None or field in required}

    def _field(self, schema: Schema, component: str, field: str) -> Any:
        for value in _candidates(schema, component, field):
            if value is COMPOSED:
                return self._composed(schema, field)
            if value is None or (fitting := self._fitting(value, schema)) is not None:
                return None if value is None else fitting
        if "default" in schema or "anyOf" in schema:
            return None
        return self._composed(schema, f"{component}.{field}")

    def _composed(self, schema: Schema, field: str) -> Any:
        schema = schema.get("anyOf", [schema])[0]
        if "$ref" in schema:
            return self.component(schema["$ref"].removeprefix(_SCHEMAS))
        if schema.get("type") == "array":
            return [self._composed(schema["items"], field)]
        if schema.get("type") == "boolean":
            return False
        if "const" in schema or "enum" in schema:
            return schema["const"] if "const" in schema else schema["enum"][0]
        raise LookupError(f"{field} has no example in contract/examples")

    def _fitting(self, value: object, schema: Schema) -> object:
        """The value in the schema's form: an amount as money, one item as a list; None if it is of another kind."""
        if "anyOf" in schema:
            return next((fit for each in schema["anyOf"] if (fit := self._fitting(value, each)) is not None), None)
        if schema.get("$ref") in _MONEY and isinstance(value, str):
            return {"amount": value, "currency": "EUR"}
        if "$ref" in schema:
            return self._fitting(value, self._schemas[schema["$ref"].removeprefix(_SCHEMAS)])
        if "enum" in schema or "const" in schema:
            return value if value in schema.get("enum", [schema.get("const")]) else None
        kind: str = schema.get("type", "")
        if kind == "array" and not isinstance(value, list):
            item = self._fitting(value, schema["items"])
            return None if item is None else [item]
        fits = kind in _TYPES and isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
        return value if fits else None
