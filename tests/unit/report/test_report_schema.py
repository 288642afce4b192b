from support.report_schema import PATH, schema


def test_schema_json_is_what_the_types_say() -> None:
    anew = "PYTHONPATH=tests python -m support.report_schema"

    assert PATH.read_text(encoding="utf-8") == schema(), f"write it anew with: {anew}"
