"""The simulated agent of telecom: from the policy's order of things to the next question, request or call.

It works from what the customer's words let it believe (`facts_in`): a state that was misheard, or put in words it does
not know, stays unknown, is asked for again, and after the third time taken as fine. That is how it goes wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from cxlab.benchmarks.mmtaup2.simulated.agent_steps import MOST
from cxlab.benchmarks.mmtaup2.simulated.dialogue_state import DialogueState, NextAction
from cxlab.benchmarks.mmtaup2.simulated.known_words import knows
from cxlab.benchmarks.mmtaup2.simulated.telecom import free_speech, phrases, reactions
from cxlab.benchmarks.mmtaup2.simulated.telecom.requests import (
    LEAVES_OUT,
    TelecomRequests,
)
from cxlab.benchmarks.mmtaup2.simulated.typed import is_typed
from cxlab.files import grammar

NUMBER = re.compile(r"\d(?:[ .-]?\d){5,}")
ASKS_NUMBER = re.compile(r"phone number", re.IGNORECASE)
ASKS_PROBLEM = re.compile(r"what (?:exactly )?does not work", re.IGNORECASE)
ASKS_ABROAD = re.compile(r"are you abroad", re.IGNORECASE)
OFFERS_DATA = re.compile(r"i can add 2 gb", re.IGNORECASE)
OFFERS_BILL = re.compile(r"send you a payment request", re.IGNORECASE)
HANDS_OVER = re.compile(r"handing you over", re.IGNORECASE)
FAMILIES = (
    ("mms", re.compile(r"\bmms\b|\bpictures?\b|\bphotos?\b", re.IGNORECASE)),
    ("data", re.compile(r"\binternet\b|\bmobile data\b|\bslow\b", re.IGNORECASE)),
    ("service", re.compile(r"\bservice\b|\bsignal\b|\bcalls?\b|\bring\b|\btelephone\b", re.IGNORECASE)),
)
OWNS_UP = "I am sorry, I did not understand that."
# One is enough, and nobody is thanked for what was not understood.
EXCUSES = re.compile(
    r"^(?:(?:I am )?sorry\b|I am not sure I understood|Thank you for|(?:I can|Let me) look into)[^.!?]*[.!?] ",
    re.IGNORECASE,
)


def plan(mind: DialogueState) -> NextAction:
    return TelecomAgent(mind).next()


class TelecomAgent(TelecomRequests):
    """The policy's order of things, and the means to go through it."""

    def next(self) -> NextAction:
        handed = self.mind.done("transfer_to_human_agents")
        if handed is not None:
            # A stand-in hangs up once it has heard so; a person may go on talking.
            told = any(HANDS_OVER.search(text) for at, text in self.mind.own if at > handed.at)
            return NextAction(reactions.answer("handed", self.mind.rng) if told else self.line("transfer"))
        if self.beside in ("bye", "wait", "works"):
            return NextAction(reactions.answer(self.beside, self.mind.rng))
        if self.beside == "human" and sum(reactions.find(text) == "human" for _, text in self.mind.theirs) > 1:
            return self.hand_over("The customer asks for a person.")
        mended = self.own_up() or self.identify() or self.mend_line() or self.mend_service() or self.mend_data()
        return self.answer_first(mended or self.finish())

    def answer_first(self, step: NextAction) -> NextAction:
        """The step, after an answer to what the customer said beside the matter; a call has its answer after it."""
        beside = self.says_beside()
        if not beside and not step.tool and (told := reactions.explain(self.mind.last)):
            return replace(step, text=f"{told} {step.text}")
        if not beside or step.tool or step.text == self.line("transfer"):
            return step
        if beside == "refusal" and self.refused & {one.name for one in phrases.requests_in(self.before())}:
            return step if LEAVES_OUT in step.text else replace(step, text=f"{LEAVES_OUT} {step.text}")
        if beside == "why":
            beside = self.reason_for(step.text)
        return replace(step, text=f"{reactions.answer(beside, self.mind.rng)} {step.text}")

    def reason_for(self, asked: str) -> str:
        """What a thing that is asked for is good for, as one of the kinds of answers."""
        if ASKS_NUMBER.search(asked):
            return "why_number"
        if ASKS_ABROAD.search(asked):
            return "why_abroad"
        requests = phrases.requests_in(asked)
        return "why_fix" if any(phrases.phrases().requests[one.name].fix for one in requests) else "why"

    def own_up(self) -> NextAction | None:
        """Say that something was not understood, ask once more what was asked, and go round no circle with it."""
        mind = self.mind
        if self.profile.comprehension == 0 or not mind.own or len(mind.theirs) < 2:
            return None
        if any(made.at > mind.own[-1][0] for made in mind.made) or not free_speech.is_strange(
            mind.last, before := mind.own[-1][1]
        ):
            return None
        if self.beside or reactions.says_done(mind.last) or any(pattern.search(mind.last) for _, pattern in FAMILIES):
            return None
        lost = [OWNS_UP in text for _, text in mind.own[-2:]]
        if len(lost) == 2 and all(lost):
            return self.hand_over("The customer's words could not be understood.")
        names = [one.name for one in phrases.requests_in(before)]
        if names:
            return NextAction(f"{OWNS_UP} {self.request(names).text}")
        asked = reactions.strip(before.removeprefix(f"{OWNS_UP} "))
        return NextAction(f"{OWNS_UP} {EXCUSES.sub('', asked)}")

    def identify(self) -> NextAction | None:
        """Who is speaking: the customer by phone number, then the line that has it."""
        mind = self.mind
        self.customer = mind.done("get_customer_by_phone")
        if self.customer is None:
            # Of two numbers that a person types the second puts the first right.
            said = [
                (one[0], text)
                for _, text in reversed(mind.theirs)
                for one in list(NUMBER.finditer(text))[:: -1 if is_typed(text) else 1]
            ]
            for number, text in said:
                heard = is_typed(text) or knows(self.profile, f"number {text}", self.profile.comprehension)
                if heard and not self.spent("get_customer_by_phone", phone_number=number):
                    return NextAction(tool="get_customer_by_phone", arguments={"phone_number": number})
            times = mind.asked(ASKS_NUMBER)
            # A profile that takes nothing up never gets beyond this question.
            if times > MOST and self.profile.comprehension > 0:
                return self.hand_over("The customer could not be found by phone number.")
            if self.profile.comprehension == 0:
                return NextAction(grammar.every(phrases.phrases().agent["ask_phone"][0])[0])
            if times and not mind.tried("get_customer_by_phone"):
                return NextAction(self.line("ask_phone_still"))
            lost = times or mind.tried("get_customer_by_phone")
            return NextAction(self.line("ask_phone_again" if lost else "ask_phone"))
        found = self.customer.value
        self.customer_id = str(found.get("customer_id", "")) if isinstance(found, dict) else ""
        number = re.sub(r"\D", "", str(self.customer.arguments.get("phone_number", "")))
        for line_id in found.get("line_ids", []) if isinstance(found, dict) else []:
            looked = mind.done("get_details_by_id", id=line_id)
            if looked is None:
                if not self.spent("get_details_by_id", id=line_id):
                    return NextAction(tool="get_details_by_id", arguments={"id": line_id})
                continue
            if re.sub(r"\D", "", str(looked.value.get("phone_number", ""))) == number:
                self.line_row, self.line_id = looked.value, str(line_id)
                return self.find_problem()
        return self.hand_over("No line of the customer has this phone number.")

    def find_problem(self) -> NextAction | None:
        for _, text in self.mind.theirs:
            heard = phrases.put_right(text, self.profile.name, self.profile.subtlety)
            for name, pattern in FAMILIES:
                taken = is_typed(text) or knows(self.profile, f"family {text}", self.profile.comprehension)
                if pattern.search(heard) and taken:
                    self.family = name
                    return None
        if self.mind.asked(ASKS_PROBLEM) < 2:
            return NextAction(self.line("ask_problem"))
        self.family = "service"
        return None

    def mend_line(self) -> NextAction | None:
        """A suspended line: a person where the contract is over, else the bill, the payment, and the line again."""
        if self.line_row.get("status") != "Suspended" or not self.rule("suspension", self.profile.rule_following):
            return None
        ended = str(self.line_row.get("contract_end_date") or "9999") < self.today()
        if ended and self.rule("contract", self.profile.joint_conditions):
            return self.hand_over("The line is suspended and its contract has ended.")
        resumed = self.mind.done("resume_line", line_id=self.line_id)
        if resumed is None:
            return self.settle_bill()
        if not self.open_fix("reboot", resumed.at):
            return None
        # That it is paid is said by whoever has seen it.
        seen = any(
            m.tool == "get_details_by_id" and m.value.get("status") == "Paid" for m in self.mind.made if not m.error
        )
        return self.request(["reboot"], self.line("resumed" if seen else "active"))

    def settle_bill(self) -> NextAction | None:
        mind, owner = self.mind, {"customer_id": self.customer_id}
        bills = mind.done("get_bills_for_customer", **owner)
        if bills is None:
            return self.call("get_bills_for_customer", owner)
        due = next((b for b in bills.value if b.get("status") in ("Overdue", "Awaiting Payment")), None)
        if due is None:
            return self.call("resume_line", {**owner, "line_id": self.line_id})
        sent = mind.done("send_payment_request", bill_id=due["bill_id"])
        if sent is None:
            price = f"${float(due['total_due']):.2f}"
            offer = self.offer(OFFERS_BILL, "confirm_bill", price)
            return offer or self.call("send_payment_request", {**owner, "bill_id": due["bill_id"]})
        paid = mind.done("get_details_by_id", id=due["bill_id"])
        if paid is not None and paid.value.get("status") == "Paid":
            return self.call("resume_line", {**owner, "line_id": self.line_id})
        step = self.fix("pay", "paid", "yes", sent.at, self.line("sent_bill"), ["check_payment", "pay"])
        if step is not None:
            return step
        if not self.rule("verify payment", self.profile.rule_following):
            return self.call("resume_line", {**owner, "line_id": self.line_id})
        places = [at for at in self.asked.get("pay", []) if at > sent.at]
        if paid is None or paid.at < max(places, default=-1):
            return self.call("get_details_by_id", {"id": due["bill_id"]})
        if len(places) < MOST:
            # It was said to be paid, or misheard so, and the bill says otherwise.
            return self.request(["pay"], again=True)
        return self.hand_over("The bill has not been paid, so the line stays suspended.")

    def mend_service(self) -> NextAction | None:
        if self.value("airplane") == "on" or self.value("signal") is None:
            if self.value("airplane") == "on":
                step = self.fix("airplane_off", "airplane", "off")
                if step is not None:
                    return step
            step = self.ask(["check_status_bar"], "signal")
            if step is not None:
                return step
        if self.value("signal") != "none":
            return None
        step = self.ask(["check_sim_status", "check_apn_settings"], "sim")
        if step is None and self.value("sim") != "locked":
            step = self.ask(["check_apn_settings"], "apn")
        if step is not None:
            return step
        if self.value("sim") == "locked":
            return self.hand_over("The SIM card is locked.")
        for fact, bad, name, good in (
            ("sim", "missing", "reseat_sim", "reseated"),
            ("apn", "broken", "reset_apn", "reset"),
        ):
            if self.value(fact) == bad:
                after = ["reset_apn", "reboot"] if name == "reset_apn" else [name]
                step = self.fix(name, good, "yes", together=after)
                if step is None and name == "reset_apn" and self.open_fix("reboot", self.asked["reset_apn"][-1] - 1):
                    step = self.request(["reboot"])
                if step is not None:
                    return step
        step = self.ask(["check_status_bar"], "signal")
        if step is not None or self.value("signal") != "none":
            return step
        return self.hand_over("There is no service, and nothing on the phone or the line explains it.")

    def mend_data(self) -> NextAction | None:
        if self.family == "service":
            return None
        return self.fill_up() or self.allow_roaming() or self.mend_settings()

    def fill_up(self) -> NextAction | None:
        mind, line = self.mind, {"customer_id": self.customer_id, "line_id": self.line_id}
        usage = mind.done("get_data_usage", line_id=self.line_id)
        if usage is None:
            return None if self.spent("get_data_usage", **line) else self.call("get_data_usage", line)
        used, limit = usage.value.get("data_used_gb", 0), usage.value.get("data_limit_gb", 0)
        if used < limit + usage.value.get("data_refueling_gb", 0) or mind.done("refuel_data", line_id=self.line_id):
            return None
        if not self.rule("quota", self.profile.rule_following):
            return None
        plan_id = self.line_row.get("plan_id", "")
        bought = mind.done("get_details_by_id", id=plan_id)
        if bought is None:
            return self.call("get_details_by_id", {"id": plan_id})
        price = f"${2 * float(bought.value.get('data_refueling_price_per_gb', 0)):.2f}"
        offer = self.offer(OFFERS_DATA, "confirm_refuel", price)
        return offer or self.call("refuel_data", {**line, "gb_amount": 2.0})

    def allow_roaming(self) -> NextAction | None:
        if self.value("abroad") is None and self.mind.asked(ASKS_ABROAD) < MOST:
            again = "_again" if self.mind.asked(ASKS_ABROAD) else ""
            return NextAction(self.line(f"ask_abroad{again}"))
        if self.value("abroad") != "yes" or self.line_row.get("roaming_enabled"):
            return None
        if self.mind.done("enable_roaming", line_id=self.line_id) or not self.rule(
            "roaming", self.profile.joint_conditions
        ):
            return None
        return self.call("enable_roaming", {"customer_id": self.customer_id, "line_id": self.line_id})

    def mend_settings(self) -> NextAction | None:
        """Everything on the phone that this problem can come from: look, then put right, then try again."""
        checks: dict[str, tuple[str, ...]] = {"check_network_status": ("data",), "check_network_mode": ("mode",)}
        fixes = [("data", "off", "data_on", "on"), ("mode", "old", "mode_new", "new")]
        if self.value("abroad") == "yes":
            checks["check_network_status"] = ("data", "roaming")
            fixes.append(("roaming", "off", "roaming_on", "on"))
        if self.family == "data":
            checks |= {"check_data_saver": ("saver",), "check_vpn": ("vpn",)}
            fixes += [("saver", "on", "saver_off", "off"), ("vpn", "poor", "vpn_off", "off")]
        else:
            checks |= {"check_wifi_calling": ("wificalling",), "check_apn_settings": ("mmsc",)}
            checks |= {"check_permissions": ("storage", "sms")}
            fixes += [("wificalling", "on", "wificalling_off", "off")]
            fixes += [("storage", "missing", "grant_storage", "granted"), ("sms", "missing", "grant_sms", "granted")]
        for name, facts in checks.items():
            step = self.ask([name, *(other for other in checks if other != name)], *facts)
            if step is not None:
                return step
        for fact, bad, name, good in fixes:
            if self.value(fact) == bad:
                step = self.fix(name, fact, good, together=self.due(fixes, name))
                if step is not None:
                    return step
        if self.family == "mms" and self.value("mmsc") == "missing":
            step = self.fix("reset_apn", "reset", "yes", together=["reset_apn", "reboot"])
            if step is None and self.open_fix("reboot", self.asked["reset_apn"][-1] - 1):
                step = self.request(["reboot"])
            return step
        return None

    def due(self, fixes: Sequence[tuple[str, str, str, str]], first: str) -> list[str]:
        others = [n for fact, bad, n, _ in fixes if n != first and n not in self.asked and self.value(fact) == bad]
        return [first, *others]

    def finish(self) -> NextAction:
        test, fact, good = {
            "service": ("check_status_bar", "signal", "some"),
            "data": ("run_speed_test", "speed", "excellent"),
            "mms": ("can_send_mms", "mms", "yes"),
        }[self.family]
        if test in self.refused:
            return self.hand_over("The customer does not want to look any further.")
        step = self.ask([test], fact)
        if step is not None:
            return step
        asked = self.mind.asked(re.compile(r"does everything work again", re.IGNORECASE))
        seen = self.value(fact)
        if seen in (good, None) and asked < 2:
            # What was never told does not look good.
            return NextAction(self.line("settled" if seen else "settled_gentle"))
        if seen is None:
            return self.hand_over("What the phone shows could not be found out, so it is not known whether it works.")
        return self.hand_over("All settings were gone through and it still does not work.")
