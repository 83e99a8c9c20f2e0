"""What the API answers, as typed values. An unknown field or enum value never breaks reading."""

from ipucloud.client.models.base import Answer as Answer
from ipucloud.client.models.base import ExportFile as ExportFile
from ipucloud.client.models.base import ExportManifest as ExportManifest
from ipucloud.client.models.base import Money as Money
from ipucloud.client.models.base import Page as Page
from ipucloud.client.models.base import Problem as Problem
from ipucloud.client.models.generated import *  # noqa: F403  # they are as many as the API's answers
