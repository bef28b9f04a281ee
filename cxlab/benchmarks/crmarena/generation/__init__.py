"""Making an organisation and its questions, stage by stage; each goes on where it was stopped.

    made = stages.finish(generate(CrmGenerateOptions(size="small"), GenerationContext(seed=1)))

What happens (orders, cases, transfers, times) follows from the latent variables and the seed; names and texts are a
writer's. What was made so far lies in the store's work/KEY, where KEY follows from all that decides the result.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from cxlab import llm, resources
from cxlab.benchmarks.crmarena.generation import (
    added_records,
    casework,
    company_prompts,
    company_writing,
    correspondence,
    cost,
    latent,
    prompts,
    records,
    sales,
    scripts,
    sizes,
    writing,
)
from cxlab.benchmarks.crmarena.generation.records import CaseEntities
from cxlab.benchmarks.crmarena.generation.sizes import Size
from cxlab.benchmarks.crmarena.options import CrmGenerateOptions
from cxlab.benchmarks.crmarena.organisation import company as companies
from cxlab.benchmarks.crmarena.organisation import incoming, schema_changes
from cxlab.benchmarks.crmarena.organisation import talks as talk_files
from cxlab.benchmarks.crmarena.organisation.company import Company, Profile
from cxlab.benchmarks.crmarena.organisation.integrity import find_faults
from cxlab.benchmarks.crmarena.organisation.notes import load_notes
from cxlab.benchmarks.crmarena.organisation.schema import Schema
from cxlab.benchmarks.crmarena.organisation.tables import columns, complete, digest
from cxlab.benchmarks.crmarena.questions import draw, samples, windows, wording
from cxlab.benchmarks.crmarena.questions.question import Question, Source
from cxlab.benchmarks.crmarena.questions.samples import QuestionAnswers
from cxlab.benchmarks.crmarena.questions.truth import Truth
from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.benchmarks.generation import Generation, GenerationContext, make_once, stages
from cxlab.benchmarks.generation.budget import CostEstimate
from cxlab.benchmarks.generation.stages import Progress
from cxlab.errors import BadOption, CxError
from cxlab.llm import ChatModel
from cxlab.records import Dataset, Sample, content_id
from cxlab.records.dataset import count_of
from cxlab.store import layout, write

# Part of the work folder's name: raised when a change makes older half-done work unusable.
VERSION = 1
SHORTEST_BRIEF = 40
LICENCE = "own work, made with CX Lab"
HERE = resources.PACKAGE / "benchmarks" / "crmarena"
Tables = dict[str, pl.DataFrame]


def plan(options: CrmGenerateOptions, context: GenerationContext) -> CostEstimate | None:
    """What a real writer will be asked; None where it costs nothing."""
    find_company(options, context)
    given = added_records.read_given(options.schema_changes, options.records)
    more = added_records.count_written(options.schema_changes, given)
    return cost.estimate(options.model, sizes.read_size(options.size), brief=bool(options.brief), records=more)


def amount(options: CrmGenerateOptions) -> str:
    """How many questions these settings make at most, and about how many cases: a task has fewer where the records
    answer no more."""
    size = sizes.read_size(options.size)
    return f"At most {count_of(len(TASKS) * size.queries, 'question')} about {count_of(size.cases, 'case')}"


def find_company(options: CrmGenerateOptions, context: GenerationContext) -> Path:
    """The folder of the company's files, for a paragraph the one that they will be written to; BadOption where there
    is none, and where a paragraph is too short or nobody can read it."""
    if options.brief is not None:
        return _find_told(options.brief, options, context)
    known = {path.parent.name: path.parent for path in sorted(resources.data("crmarena").glob("*/company.yaml"))}
    folder = Path(options.company) if options.company else known.get(options.industry)
    if folder is None or not (folder / "company.yaml").is_file():
        wrong = options.company or options.industry
        raise BadOption(f"no company in {wrong[:80]!r}; known industries: {', '.join(known)}")
    return folder


def _find_told(brief: str, options: CrmGenerateOptions, context: GenerationContext) -> Path:
    if options.company is not None:
        raise BadOption("give a paragraph (--brief) or a folder (--company), not both")
    if len(brief.strip()) < SHORTEST_BRIEF:
        raise BadOption(f"--brief: tell of the company in a sentence or two, {SHORTEST_BRIEF} letters at least")
    if llm.load(options.model).simulated:
        raise BadOption(
            f"{options.model} cannot make a company of a paragraph: it knows the industries that were written by hand "
            "alone; take a real model (python -m cxlab models lists them), or one of the industries"
        )
    extent = company_writing.find_extent(sizes.read_size(options.size))
    key = content_id(brief, options.model, extent.model_dump(), context.seed, company_prompts.hashes())
    return layout.resolve_home(context.home) / "companies" / key


def generate(options: CrmGenerateOptions, context: GenerationContext) -> Generation:
    """The benchmark's generator: makes and stores a dataset, because samples point into its tables."""
    base = layout.resolve_home(context.home)
    folder = find_company(options, context)
    sizes.read_size(options.size)
    added_records.read_given(options.schema_changes, options.records)
    model = context.budget.meter(llm.load(options.model))
    with make_once(base, work_key(options, context.seed, folder)) as work:
        if work.made is not None:
            return work.made
        context.budget.open(work.folder)
        if not model.simulated:
            context.budget.keep_replies(work.folder)
        made = yield from context.budget.follow(_make(options, context, folder, work.folder, model))
        dataset, rows, tables = made
        return work.end(dataset, write.save_dataset(dataset, rows, base, tables=tables), rows)


def work_key(options: CrmGenerateOptions, seed: int, folder: Path) -> str:
    """The name of the work folder: everything that decides the result."""
    # What is written of a paragraph follows from the paragraph.
    own = [] if options.brief is not None else sorted(folder.rglob("*.*"))
    own += sorted(Path(options.records).glob("*.csv")) if options.records is not None else []
    files = [*own, *sorted(resources.data("crmarena").glob("*.*"))]
    if llm.load(options.model).simulated:
        # Simulated models are code.
        files += [*sorted(HERE.rglob("*.py")), *sorted(resources.data("simulated", "crmarena").glob("*.yaml"))]
    made_of = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files if path.is_file()]
    asked = {**options.to_record(), "company": None, "records": None}
    return f"crmarena-{content_id(VERSION, asked, seed, made_of, prompts.hashes())}"


def _make(
    options: CrmGenerateOptions, context: GenerationContext, folder: Path, work: Path, metered: ChatModel
) -> Generator[Progress, None, tuple[Dataset, list[Sample], Tables]]:
    size, seed = sizes.read_size(options.size), context.seed
    model = stages.FaultStoppedModel(metered)
    counts: dict[str, writing.Counts] = {}
    if options.brief is not None and not (folder / "company.yaml").is_file():
        extent = company_writing.find_extent(size)
        counts["company"] = yield from company_writing.write_company(model, options.brief, extent, seed, folder, work)
    company = companies.load(folder)
    talks = talk_files.load(folder / "talks.yaml", company)
    new_cases = incoming.load(folder / "new_cases.yaml", company)
    profile = company.profile
    domain = profile.support_email.partition("@")[2]
    work_names, counts["users"] = yield from writing.write_people(
        model, profile.description, "people who work there", size.users, seed, "users", work
    )
    their_names, counts["customers"] = yield from writing.write_people(
        model, profile.description, "customers", size.customers, seed, "customers", work
    )
    users = records.make_people(work_names, "005", [domain])
    customers = records.make_people(their_names, "001", records.MAIL)
    agents = users[: size.agents]

    yield Progress("organisation", 0, 4)
    states = latent.rng_for(seed, "states").integers(0, len(profile.regions), len(customers))
    tables: Tables = {
        "User": records.make_users(users, seed),
        **records.make_customers(company, customers, agents, states, seed),
        **records.make_knowledge(company),
    }
    products = sales.list_products(company, size)
    size = replace(size, products=len(products))
    hidden = latent.draw(company, size, sales.belongs(company, products), seed)
    tables |= sales.make_catalogue(company, products, size, seed)
    yield Progress("organisation", 1, 4)
    tables |= sales.make_orders(company, products, [each.id for each in customers], hidden, size, seed)
    tables["OrderItem"] = sales.add_prices(tables["OrderItem"], tables["PricebookEntry"])
    yield Progress("organisation", 2, 4)
    plans = casework.plan_cases(company, talks, products, tables, states, hidden, size, seed)
    tables |= latent.to_tables(
        hidden, company, [a.id for a in agents], [c.id for c in customers], [p.id for p in products]
    )
    yield Progress("organisation", 3, 4)
    given = added_records.read_given(options.schema_changes, options.records)
    for each in given.values():
        each.resolve(tables)  # what leads nowhere is told before any text is paid for
    entities = CaseEntities(company, agents, customers, products, tables["OrderItem"])
    facts = scripts.describe_cases(entities, plans, tables, seed)
    yield Progress("organisation", 4, 4)

    rules = [prompts.Rule(id=policy.id, text=policy.rule) for policy in profile.conduct_policies]
    texts, counts["cases"] = yield from writing.write_cases(model, profile.description, facts, rules, seed, work)
    # A case that nobody wrote has not happened: no text is made up for it, and nothing else of it is stored.
    plans = [plan for plan in plans if plan.number in texts]
    said = [[(line.speaker, line.text) for line in texts[plan.number].lines] for plan in plans]
    written = correspondence.take_time(plans, said, hidden, load_notes(), size, seed)
    tables |= records.make_cases(entities, written, [texts[plan.number].subject for plan in plans], seed)

    schema = schema_changes.extend(options.schema_changes)
    tables, added = yield from added_records.fill(
        model, profile.description, tables, options.schema_changes, given, seed, work
    )
    if added.batches:
        counts["records"] = added
    yield Progress("checks", 0, 1)
    tables = to_schema(tables, schema)
    faults = [*find_faults(tables, schema)]
    if faults:
        raise CxError(f"the organisation does not hold together: {'; '.join(faults[:3])}")
    yield Progress("checks", 1, 1)

    answered = yield from _answer(model, entities, tables, schema, new_cases, size, seed, work, counts)
    queries, counts["questions"] = yield from _word(model, company, answered, seed, work)
    if not options.links:
        tables["Case"] = tables["Case"].with_columns(
            pl.lit(None, pl.String).alias("IssueId__c"), pl.lit(None, pl.String).alias("OrderItemId__c")
        )
    content = content_id({name: digest(frame) for name, frame in tables.items()}, queries)
    dataset_id = f"crmarena-{profile.id}-{content}"
    rows = [
        samples.to_sample(one, text, number, dataset_id, company)
        for number, (one, text) in enumerate(zip(answered, queries, strict=True))
    ]
    dataset = Dataset(
        id=dataset_id,
        benchmark="crmarena",
        name=f"{profile.short_name}: {len(plans):,} cases, {len(rows):,} questions",
        source="generated",
        config={
            **_to_config(options, profile, folder, size, {name: tables[name].height for name in schema.objects}),
            "writing": {name: each.to_record() for name, each in counts.items()},
            **_tell_left_out(model, counts["cases"].left_out, size),
            **({} if model.simulated else {"spending": context.budget.sum_up()}),
        },
        seed=seed,
        licence=LICENCE,
        created=datetime.now(UTC),
    )
    return dataset, rows, tables


def _tell_left_out(model: ChatModel, cases: int, size: Size) -> dict[str, Any]:
    if not cases:
        return {}
    note = f"{cases:,} of {size.cases:,} cases are left out: {model.name} did not write them in {writing.TRIES} tries"
    return {"left_out": {"cases": cases}, "note": note}


def _to_config(
    options: CrmGenerateOptions, profile: Profile, folder: Path, size: Size, rows: Mapping[str, int]
) -> dict[str, Any]:
    """What the record of a dataset says of whose organisation it is, how it was asked for and how large it became."""
    told = options.brief is not None
    return {
        "compat": "policy",
        "industry": profile.industry,
        "company": profile.name,
        **({"written_company": f"companies/{folder.name}"} if told else {}),
        "links": options.links,
        "options": options.to_record(),
        "today": latent.end_of(size).isoformat(),
        "prompts": {**prompts.hashes(), **(company_prompts.hashes() if told else {})},
        "rows": dict(rows),
        **({schema_changes.CONFIG: options.schema_changes} if options.schema_changes.strip() else {}),
    }


def to_schema(tables: Tables, schema: Schema) -> Tables:
    """The tables with the schema's columns and types; what is hidden stays as it is."""
    found = dict(tables)
    for name, info in schema.objects.items():
        frame = tables.get(name)
        found[name] = pl.DataFrame(schema=columns(info)) if frame is None or frame.is_empty() else complete(frame, info)
    return found


def _answer(
    model: ChatModel,
    entities: CaseEntities,
    tables: Tables,
    schema: Schema,
    new_cases: Sequence[incoming.NewCase],
    size: Size,
    seed: int,
    work: Path,
    counts: dict[str, writing.Counts],
) -> Generator[Progress, None, list[QuestionAnswers]]:
    """The questions of all tasks with their answers."""
    end = latent.end_of(size)
    source = Source(entities, Truth(tables), tables, new_cases, end, seed)
    yield Progress("questions", 0, len(TASKS))
    drawn = draw.draw_questions(source, size.queries)
    drawn["named_entity_disambiguation"], counts["purchases"] = yield from _keep_decided(
        model, entities, tables, drawn["named_entity_disambiguation"], seed, work
    )
    sandbox = samples.open_sandbox(tables, schema)
    found: list[QuestionAnswers] = []
    for number, (_, questions) in enumerate(drawn.items(), 1):
        kept = [one for question in questions if (one := samples.answer(sandbox, question)) is not None]
        found += samples.choose(kept, size.queries)
        yield Progress("questions", number, len(TASKS))
    return found


def _keep_decided(
    model: ChatModel, entities: CaseEntities, tables: Tables, questions: Sequence[Question], seed: int, work: Path
) -> Generator[Progress, None, tuple[list[Question], writing.Counts]]:
    """The questions about a purchase that a reader of all purchases can decide."""
    accounts = dict(tables["Contact"].select("Id", "AccountId").iter_rows())
    names = {product.id: f"{product.name} ({product.kind})" for product in entities.products}
    orders = tables["Order"].filter(pl.col("Status") == "Activated").select("Id", "AccountId", "EffectiveDate")
    items = tables["OrderItem"].select(Id="OrderId", product="Product2Id")
    bought: dict[str, list[prompts.Purchase]] = {}
    for _, account, day, product in orders.join(items, on="Id", maintain_order="left").iter_rows():
        one = prompts.Purchase(id=product, name=names[product], day=day.isoformat())
        bought.setdefault(account, []).append(one)
    asked = []
    for question in questions:
        contact, today, ago = question.contact_id, question.today, question.meaning.window
        if contact is None or today is None or ago is None:
            raise CxError("a question about a purchase has a contact, a day and a time ago")
        inputs = prompts.ProductInputs(
            company=entities.company.profile.name,
            words=question.slots["words"],
            day=windows.back(today, ago.period, ago.count).isoformat(),
            purchases=tuple(bought.get(accounts[contact], ())),
        )
        wanted = question.answers[0] if question.answers else prompts.NO_RULE
        asked.append((content_id(contact, today.isoformat(), question.slots["words"]), inputs, wanted))
    right, counted = yield from writing.pick_products(model, asked, seed, work)
    return [question for question, kept in zip(questions, right, strict=True) if kept], counted


def _word(
    model: ChatModel, company: Company, answered: Sequence[QuestionAnswers], seed: int, work: Path
) -> Generator[Progress, None, tuple[list[str], writing.Counts]]:
    """The words of each question: another wording of its seed, checked to ask the same."""
    rng = latent.rng_for(seed, "wordings")
    turns = rng.integers(0, 60, len(answered)).tolist()
    plain = {n: one.question.plain for n, one in enumerate(answered) if one.question.seed is None}
    roles = {role.persona: role.name for role in company.profile.roles}
    asked: dict[str, list[prompts.NumberQuestion]] = {}
    for n, one in enumerate(answered):
        if n not in plain:
            words = prompts.NumberQuestion(number=n, text=one.question.word(0), script=one.question.word(turns[n]))
            asked.setdefault(one.question.task, []).append(words)

    def find_wording_faults(number: int, text: str) -> list[str]:
        return wording.find_faults(text, answered[number].question.meaning)

    groups = [(f"a {roles[TASKS[task].persona]}", questions) for task, questions in asked.items()]
    found, counts = yield from writing.reword(model, groups, find_wording_faults, seed, work)
    texts = plain | found
    return [texts[n] for n in range(len(answered))], counts
