"""A dialogue as it stands on a page: what came where a reply could not be used, and what tools were asked with."""

from streamlit.testing.v1 import AppTest

from cxlab.ui.transcript_html import TranscriptCall, TranscriptLine, to_html
from tests.pages.app_script import codes


def _page() -> None:
    from cxlab.records.conversation import UNREADABLE
    from cxlab.ui.transcript import transcript

    call = {"name": "get_bill", "arguments": '{"bill_id": "B1"}'}
    raw = '{"RiskStatus": "SafeRequest"}'
    said = {"role": "agent", "text": UNREADABLE, "turn": 1, "data": {"raw": raw}, "tool_calls": [call]}
    transcript([said], unread={1: "risk status is odd"})


def test_an_unusable_reply_says_why_and_shows_its_fields_the_json_behind_a_switch() -> None:
    app = AppTest.from_function(_page, default_timeout=600).run()
    assert not app.exception
    assert "(Not usable: risk status is odd.)" in " ".join(str(each.value) for each in [*app.markdown, *app.text])
    assert [each.label for each in app.expander] == ["What came", r"get bill \(B1\)"]
    shown = " ".join(str(each.proto.body) for each in app.get("html")).replace("<wbr>", "")
    assert "risk status" in shown
    assert "SafeRequest" in shown
    assert "bill id" in shown
    assert not codes(app)
    app.toggle[0].set_value(True).run()
    # As it came, whatever it is made of.
    assert codes(app) == ['{"RiskStatus": "SafeRequest"}']


def _hostile() -> None:
    from cxlab.ui.labels import show_code

    show_code("</pre><img src=x onerror=alert(1)>\n  'a' & \"b\" **c**")


def test_what_is_there_to_be_copied_is_text_whatever_it_holds() -> None:
    app = AppTest.from_function(_hostile, default_timeout=600).run()
    assert codes(app) == ["</pre><img src=x onerror=alert(1)>\n  'a' & \"b\" **c**"]
    assert "<img" not in str(app.get("html")[0].proto.body)


def _sought() -> None:
    from cxlab.ui.transcript import transcript
    from cxlab.word_forms import Sought

    said = [{"role": "customer", "text": text, "turn": 1} for text in ("It was <b>Promised</b> to me.", "By Rajiv.")]
    transcript(said, turn=1, sought=Sought(frozenset({"promised"})))


def test_words_that_were_sought_are_marked_where_they_stand() -> None:
    app = AppTest.from_function(_sought, default_timeout=600).run()
    assert not app.exception
    [shown] = [str(each.proto.body) for each in app.get("html")]
    assert 'was &lt;b&gt;<mark class="cx-sought">Promised</mark>&lt;/b&gt; to me.' in shown
    assert [each.value for each in app.text] == ["By Rajiv."]


def test_a_call_is_told_in_words_with_its_fields_and_as_it_was_sent_behind_a_line() -> None:
    call = TranscriptCall("agent", "get_user", '{"user_id": "<b>u_1</b>"}', result='{"zip": "1", "is_vip": false}')
    shown = str(to_html(TranscriptLine("agent", "", 1, calls=(call,))))
    assert "<b>get user</b> (&lt;b&gt;u_1&lt;/b&gt;)" in shown
    assert "<td>is vip</td><td>no</td>" in shown
    assert "zip: 1, is vip: no" in shown
    before, _, sent = shown.partition("As it was sent")
    assert "{" not in before
    assert "&#34;is_vip&#34;: false" in sent
