"""`ipucloud recipes`: the models of the model garden, and running them."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from ipucloud.cli.cluster_options import Identity, Keys, Region, Server, newest_image, only_region
from ipucloud.cli.completion import names
from ipucloud.cli.finding import CLUSTER, FLAVOR, RECIPE
from ipucloud.cli.running import Ending, Place, Source, Then, chosen_cluster, cost, run_job, variable
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.values import per_unit
from ipucloud.client import clusters, recipes
from ipucloud.client.clusters import NewCluster
from ipucloud.client.errors import UsageError
from ipucloud.client.jobs import NewJob
from ipucloud.client.models import RecipeOffer, RecipeProgram, RecipeTask

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="RECIPE", help="Id of the recipe.", autocompletion=names(RECIPE))]


@customer_command(app, "list", "--task nlp", "--runnable")
def list_recipes(
    session: Session,
    task: Annotated[RecipeTask | None, typer.Option(help="Only models for this task.")] = None,
    *,
    runnable: Annotated[bool, typer.Option("--runnable", help="Only those that `recipes run` can run.")] = False,
) -> None:
    """List the models of the model garden."""
    session.list(
        recipes.list(task=task and task.value, runnable=runnable or None),
        ("RECIPE", "NAME", "TASK", "FRAMEWORK", "IPUS", "DATASET"),
        lambda each: (
            each.id,
            each.name,
            each.task,
            each.program and each.program.framework,
            each.program and each.program.ipus,
            each.program and each.program.dataset,
        ),
        drop=("NAME", "DATASET", "TASK"),
    )


@customer_command(app, "show", "digits")
def show(session: Session, recipe: Name, region: Region = None) -> None:
    """Show a recipe: its program, the smallest flavor it runs on, and what that costs."""
    offer = _find(session, recipe, region)
    session.show(offer, _facts(offer))


@customer_command(
    app, "run", "digits --cluster bert --get results:.", "digits --then delete", "vit --cluster bert --detach"
)
def run(
    session: Session,
    recipe: Name,
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="-- ARGUMENTS...", help="More arguments for the program.")
    ] = None,
    *,
    cluster: Annotated[
        str | None, typer.Option(help="Cluster to run it on, by name or id.", autocompletion=names(CLUSTER))
    ] = None,
    flavor: Annotated[
        str | None,
        typer.Option(
            help="Create a cluster of this flavor; default: the smallest that it runs on.", autocompletion=names(FLAVOR)
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the new cluster; default: run-…")] = None,
    region: Region = None,
    ssh_keys: Keys = None,
    server: Server = 0,
    get: Annotated[
        list[str] | None, typer.Option(metavar="REMOTE:LOCAL", help="Fetch this at the end; repeatable.")
    ] = None,
    env: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="Set a variable; repeatable.")] = None,
    max_minutes: Annotated[int | None, typer.Option(min=1, max=43_200, help="Stop it so long after its start.")] = None,
    max_cost: Annotated[
        str | None, typer.Option(metavar="20EUR", help="Stop it once the cluster has cost so much since its start.")
    ] = None,
    then: Annotated[Then, typer.Option(help="What is done with the cluster at the end.")] = Then.KEEP,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Do not wait for it.")] = False,
    identity_file: Identity = None,
) -> None:
    """Run a model as a job: fetch its code on the server, set it up, show its output, exit with its status.

    Without --cluster and --flavor a cluster is created of the smallest flavor that the recipe runs on.
    """
    ending = Ending(get, then, detach)
    ending.check()
    offer = _find(session, recipe, region)
    environment = dict(variable(each) for each in env or ())
    _require_runnable(offer, environment)
    new_job = NewJob(
        [*(offer.job_command or ()), *(arguments or ())],
        environment=environment,
        max_minutes=max_minutes,
        max_cost=None if max_cost is None else cost(max_cost),
    )
    if cluster is None and flavor is None:
        flavor = _smallest_flavor(session, offer, region)
    chosen = chosen_cluster(session, cluster=cluster, flavor=flavor, name=name, region=region, ssh_keys=ssh_keys)
    run_job(Place(session, chosen, server, identity_file), new_job, Source(), offer.working_directory, ending)


def _find(session: Session, recipe: str, region: str | None) -> RecipeOffer:
    return session.run(recipes.get(recipe, region=region))


def _require_runnable(recipe: RecipeOffer, environment: dict[str, str]) -> None:
    if recipe.program is None:
        raise UsageError(
            f"The catalogue does not say how {recipe.id} is run. See those it does: ipucloud recipes list --runnable"
        )
    needed = recipe.program.dataset_variable
    if needed is not None and needed not in environment:
        raise UsageError(
            f"{recipe.id} reads {recipe.program.dataset}. Bring it to the server, and name its directory with"
            f" --env {needed}=DIRECTORY."
        )


def _smallest_flavor(session: Session, recipe: RecipeOffer, region: str | None) -> str:
    """The recipe's flavor, once its price for this project was said. Raises UsageError."""
    if recipe.flavor is None:
        raise UsageError(f"No flavor of the region has the IPUs that {recipe.id} needs. Choose another --region.")
    place = region or only_region(session, recipe.flavor)
    new_cluster = NewCluster(
        "estimate", region=place, flavor=recipe.flavor, image=newest_image(session, place), ssh_keys=()
    )
    price = per_unit(session.run(clusters.estimate(new_cluster)).price_per_minute)
    session.note(
        f"{recipe.flavor}, the smallest that {recipe.id} runs on, costs {price} a minute until it is suspended or"
        " deleted."
    )
    return recipe.flavor


def _facts(recipe: RecipeOffer) -> list[tuple[str, object]]:
    facts: list[tuple[str, object]] = [
        ("recipe", recipe.id),
        ("name", recipe.name),
        ("task", recipe.task),
        ("source", recipe.source.url or recipe.source.title),
    ]
    if recipe.program is None:
        return [*facts, ("program", "the catalogue does not say how it is run")]
    return facts + _of_program(recipe.program) + _of_price(recipe)


def _of_program(program: RecipeProgram) -> list[tuple[str, object]]:
    return [
        ("framework", program.framework),
        ("repository", program.repository or "none: its files come with the recipe"),
        ("commit", program.commit),
        ("directory", program.directory),
        ("packages", list(program.packages) or None),
        ("setup", [shlex.join(each) for each in program.setup] or None),
        ("command", shlex.join(program.command)),
        ("dataset", program.dataset),
        ("smallest POD", f"{program.ipus} IPUs"),
        ("minutes", program.minutes),
    ]


def _of_price(recipe: RecipeOffer) -> list[tuple[str, object]]:
    return [
        ("flavor", recipe.flavor),
        ("list price per minute", per_unit(recipe.price_per_minute)),
        ("expected list price", recipe.expected_price),
    ]
