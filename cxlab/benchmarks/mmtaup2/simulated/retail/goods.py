"""What of an order is meant: its items, by name or by ear, and the variants that are wanted in their place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cxlab.benchmarks.mmtaup2.simulated.dialogue_state import NextAction
from cxlab.benchmarks.mmtaup2.simulated.retail import item_matching, order_matching, phrases
from cxlab.benchmarks.mmtaup2.simulated.retail.dialogue_state import RetailDialogueState
from cxlab.benchmarks.mmtaup2.simulated.retail.order_matching import Pick, Target
from cxlab.benchmarks.mmtaup2.simulated.retail.phrases import CustomerWish
from cxlab.benchmarks.mmtaup2.tasks.retail_issues import tell_options

WHICH_ITEMS = re.compile(r"which items", re.IGNORECASE)
# Some of an order and not all of it, though nobody has said what.
PART = re.compile(r"\b(?:something|(?:an|one|some|a few|two|three) (?:items?|things?|of)|part of)\b", re.IGNORECASE)
SWAPS = ("exchange", "items")
# What parts a thing from the variant that is wanted in its place, as it is said and as it may be heard.
SWAPPED_FOR = re.compile(r" (?:as|has|(?:for|four|from) (?:one|won) (?:with|which)) ", re.IGNORECASE)
LIKE_ANOTHER = re.compile(
    r"\b(?:same|type|one)\b[^.]*\b(?:already (?:received|have|got)|in (?:my|the) (?:pending|other|last) order)\b"
)


class RetailGoods(RetailDialogueState):
    """What the simulated agent makes of the goods that a matter names."""

    def goods_of(self, matter: CustomerWish, kind: str, target: Target) -> dict[str, Any] | NextAction | None:
        """The items of the order that are meant, for a swap each with the variant that is wanted instead."""
        found = self.spelt(matter, kind, target)
        if isinstance(found, NextAction):
            return found
        old, new, shown = found or ([], [], [])
        if not old:
            picks = self.gathered(matter, kind, target)
            if kind == "return":
                whole = not target.picks and not PART.search(matter.text)
                items = [pick.item for pick in picks] or (list(target.order["items"]) if whole else [])
                old, shown = [str(item["item_id"]) for item in items], [f"the {item['name']}" for item in items]
            else:
                picks = picks or order_matching.every_item(matter.text, target.order)
                step = self.variants(picks, target, old, new, shown)
                if step is not None:
                    return step
        if not old:
            return self.ask("ask_items", WHICH_ITEMS)
        swapped = {} if kind == "return" else {"new_item_ids": new}
        return {"item_ids": old, **swapped, "shown": "; ".join(shown)}

    def gathered(self, matter: CustomerWish, kind: str, target: Target) -> list[Pick]:
        """The matter's items of this order, and those of other matters of the same kind: it can be done only once."""
        picks = [Pick(pick.item, pick.words) for pick in target.picks]
        same = SWAPS if kind in SWAPS else (kind, "undo")
        for other in self.matters:
            if other is matter or other.kind not in same:
                continue
            found = self.targets(other)
            for one in found if isinstance(found, list) else []:
                for pick in one.picks if one.id == target.id else []:
                    twin = next((p for p in picks if p.item is pick.item or p.item == pick.item), None)
                    if twin is None:
                        picks.append(pick)
                    elif pick.words not in twin.words:
                        twin.words += f" {pick.words}"
        return picks

    def variants(
        self, picks: list[Pick], target: Target, old: list[str], new: list[str], shown: list[str]
    ) -> NextAction | None:
        """Fill in what each item is to become; a step if something has to be looked up or said first."""
        refused: list[str] = []
        for pick in picks:
            product = self.product(pick.item)
            if isinstance(product, NextAction):
                return product
            gone = self.line("refuse_variant", product=str(pick.item["name"]))
            later = [reply for at, said in self.mind.own if gone in said for reply in self.mind.said_since(at)[:1]]
            found, wanted = item_matching.choose(pick.words, product, pick.item, " ".join(later))
            found = self.like_another(pick, target) or found
            if found is None:
                refused += [str(pick.item["name"])] if wanted else []
                continue
            variant = product["variants"][found]
            old.append(str(pick.item["item_id"]))
            new.append(found)
            shown.append(f"the {pick.item['name']} for one with {tell_options(variant['options'])}")
        for name in refused:
            step = self.tell("refuse_variant", product=name)
            if step is not None:
                # The rest of the order waits until the customer has said what to do about it.
                return NextAction(step.text)
        return None

    def like_another(self, pick: Pick, target: Target) -> str | None:
        """The variant of another order of the account, for somebody who wants the same as there."""
        if not LIKE_ANOTHER.search(pick.words):
            return None
        rows = [one for one in self.known_orders() if one["order_id"] != target.id]
        items = [item for one in rows for item in one["items"] if item["product_id"] == pick.item["product_id"]]
        others = {str(item["item_id"]) for item in items} - {str(pick.item["item_id"])}
        return others.pop() if len(others) == 1 else None

    def spelt(
        self, matter: CustomerWish, kind: str, target: Target
    ) -> tuple[list[str], list[str], list[str]] | NextAction | None:
        """Items named in full, variants with all their options: found by ear, as spelling suffers on the phone."""
        text = matter.text
        if not SWAPPED_FOR.search(text) and (phrases.order_in(text) is None or target.picks or kind != "return"):
            return None
        pieces = [part for part in re.split(r";|: the | and the |, the | back the ", text) if part.strip()]
        old: list[str] = []
        new: list[str] = []
        shown: list[str] = []
        for item in target.order.get("items", []):
            piece = next((p for p in pieces if phrases.near(p, {"x": str(item["name"])}, self.ear)), None)
            if piece is None:
                continue
            if kind == "return":
                old.append(item["item_id"])
                shown.append(f"the {item['name']}")
                continue
            product = self.product(item)
            if isinstance(product, NextAction):
                return product
            key = self.by_ear(piece, product, item["item_id"])
            if key is not None:
                old.append(item["item_id"])
                new.append(key)
                shown.append(f"the {item['name']} for one with {tell_options(product['variants'][key]['options'])}")
        return (old, new, shown) if old else None

    def product(self, item: Mapping[str, Any]) -> Mapping[str, Any] | NextAction:
        looked = self.mind.done("get_product_details", product_id=item["product_id"])
        if looked is None:
            return self.call("get_product_details", {"product_id": item["product_id"]})
        found: Mapping[str, Any] = looked.value
        return found

    def by_ear(self, piece: str, product: Mapping[str, Any], old: str) -> str | None:
        named = {
            key: tell_options(variant["options"])
            for key, variant in product.get("variants", {}).items()
            if variant.get("available") and key != old
        }
        return phrases.near(SWAPPED_FOR.split(piece, maxsplit=1)[-1], named, self.ear)
