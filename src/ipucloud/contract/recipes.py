"""Recipes: the models of the model garden, and how each of them is run."""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePosixPath
from typing import Annotated, Self

from pydantic import Field, model_validator

from ipucloud.contract.catalogue import Model, Row, Slug
from ipucloud.contract.fields import Shape
from ipucloud.contract.lists import Page
from ipucloud.contract.programs import Command, Text, VariableName
from ipucloud.kernel.money import Money


class RecipeTask(StrEnum):
    """What a model is for."""

    COMPUTER_VISION = "computer-vision"
    DETECTION = "detection"
    SEGMENTATION = "segmentation"
    GRAPHS = "graphs"
    SIMULATION = "simulation"
    REINFORCEMENT_LEARNING = "reinforcement-learning"
    PROBABILISTIC = "probabilistic"
    NLP = "nlp"
    SPEECH = "speech"
    RECOMMENDERS = "recommenders"
    MULTIMODAL = "multimodal"
    OTHER = "other"


class Framework(StrEnum):
    """What a recipe's program is written for."""

    PYTORCH = "pytorch"
    TENSORFLOW1 = "tensorflow1"
    TENSORFLOW2 = "tensorflow2"
    POPART = "popart"
    POPXL = "popxl"
    POPRT = "poprt"
    PADDLEPADDLE = "paddlepaddle"
    PYTHON = "python"


RelativePath = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./+-]{0,199}$")]


class RecipeFile(Model):
    """A file that comes with a recipe."""

    path: RelativePath = Field(description="Path relative to the directory of the recipe.", examples=["train.py"])
    text: Text = Field(description="What is in it.", examples=["print(1)\n"])


class RecipeProgram(Model):
    """How a model is run: a commit of a repository, or files that come with the recipe, and a command."""

    framework: Framework
    repository: Annotated[str, Field(pattern=r"^https://[A-Za-z0-9./_-]+$")] | None = Field(
        None,
        description="Git repository; null: the files come with the recipe.",
        examples=["https://github.com/graphcore/examples"],
    )
    files: tuple[RecipeFile, ...] = Field((), description="The files that come with the recipe.")
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = Field(
        None, description="Commit of the repository.", examples=["09b7c672cf2dd700894b11d765a532b7f2e5e11d"]
    )
    directory: RelativePath | None = Field(
        None, description="Directory of the repository in which the program starts.", examples=["vision/vit/pytorch"]
    )
    packages: tuple[str, ...] = Field(
        (), description="Packages of the operating system that it needs.", examples=[["libjpeg-turbo8-dev"]]
    )
    setup: tuple[Command, ...] = Field(
        (),
        description="Commands that are run before it, in order.",
        examples=[[["python3", "-m", "pip", "install", "-r", "requirements.txt"]]],
    )
    command: Command = Field(
        description="The program and its arguments. A variable at the start of a word, such as `$DATASETS_DIR`, is"
        " replaced by its value.",
        examples=[["python3", "finetune.py", "--dataset", "generated"]],
    )
    dataset: str = Field(description="What it reads; `generated`: it makes its own data.", examples=["generated"])
    dataset_variable: VariableName | None = Field(
        None, description="Environment variable that must name the directory of the dataset.", examples=["DATASETS_DIR"]
    )
    ipus: int = Field(ge=1, description="IPUs of the smallest POD on which it runs.", examples=[16])
    minutes: Annotated[int, Field(ge=1)] | None = Field(
        None, description="Published duration on that POD; null if nothing is published.", examples=[28]
    )

    @model_validator(mode="after")
    def _comes_from_somewhere(self) -> Self:
        if (self.repository is None) != (self.commit is None):
            raise ValueError("a repository needs a commit, and a commit a repository")
        if (self.repository is None) == (not self.files):
            raise ValueError("a program comes from a repository, or from files of the recipe")
        paths = [file.path for file in self.files] + ([self.directory] if self.directory else [])
        if any(".." in PurePosixPath(path).parts for path in paths):
            raise ValueError("paths must stay within the directory of the recipe")
        return self


class Recipe(Row):
    """A model of the model garden; ready to run if it has a program."""

    id: Slug = Field(examples=["bert-large"])
    name: str = Field(examples=["BERT-Large"])
    task: RecipeTask
    poprt_benchmark: bool = Field(False, description="In PopRT's benchmark set, at FP16.")
    program: RecipeProgram | None = Field(
        None, description="How it is run, as published; null if the catalogue does not know."
    )


class RecipeOfferOut(Recipe):
    """A recipe with all that is needed to run it as a job, and its price."""

    job_command: list[str] | None = Field(
        description="`command` of a job that runs it: it brings the files to the server, sets up and runs the program."
        " Words that you append are arguments of the program. Null without a program.",
        examples=[["bash", "-euc", "mkdir -p digits\ncd digits\n…", "digits"]],
    )
    working_directory: str | None = Field(
        description="Directory of the server in which the program starts, relative to the user's home.",
        examples=["examples/vision/vit/pytorch"],
    )
    flavor: str | None = Field(
        description="The smallest flavor that it runs on, the cheapest of that size; null if there is none in the"
        " region.",
        examples=["m2000-pod16"],
    )
    price_per_minute: Money | None = Field(description="Current list price of a minute of the flavor.")
    expected_price: Money | None = Field(
        description="List price of the program's published minutes on the flavor; null if nothing is published. The"
        " minutes in which its cluster is made are billed in addition."
    )


class RecipePage(Page[Recipe]):
    pass


class RecipesQuery(Shape):
    task: RecipeTask | None = Field(None, description="Only models for this task.")
    runnable: bool | None = Field(None, description="Only models with, or without, a program.")
