# Two images: `service` is what runs in production; `laboratory`, the last one, is a whole system on simulated hardware.
# docs/containers.md tells how to build and to run them.

# The virtual environment of the service, where it will be.
FROM python:3.12-slim-bookworm AS build
# `parts` has every optional part, `service` none.
ARG REQUIREMENTS=parts
WORKDIR /build
COPY requirements/service.txt requirements/parts.txt requirements/build.txt requirements/panel.txt requirements/
RUN python -m venv --without-pip /opt/ipucloud \
    && pip --python /opt/ipucloud/bin/python install --no-cache-dir --only-binary :all: --require-hashes -r "requirements/$REQUIREMENTS.txt" \
    && pip install --no-cache-dir --only-binary :all: --require-hashes -r requirements/build.txt -r requirements/panel.txt
COPY pyproject.toml README.md LICENSE ./
COPY docs/errors.md docs/
COPY alembic alembic
COPY panel panel
COPY src src
RUN IPUCLOUD_PANEL=require pip wheel --no-deps --no-build-isolation --no-index --wheel-dir wheels . \
    && pip --python /opt/ipucloud/bin/python install --no-deps --no-index wheels/*.whl

# Of Arrow the service writes Parquet files, which another library sends: it needs neither Flight nor S3 of it. Some
# wheels have symbols for debuggers, which are half of their size and more.
FROM build AS small
RUN apt-get update && apt-get install --yes --no-install-recommends binutils
RUN cd /opt/ipucloud/lib/python3*/site-packages \
    && rm -r ipucloud/laboratory /opt/ipucloud/bin/ipucloud-sim pyarrow/tests pyarrow/include pyarrow/*flight* pyarrow/*s3* \
    && find . \( -path './fontTools/*' -o -path './sqlalchemy/*' -o -path './uvloop/*' -o -path './yaml/*' \) -name '*.so' -exec strip --strip-unneeded {} +

FROM python:3.12-slim-bookworm AS service
COPY --from=small /opt/ipucloud /opt/ipucloud
RUN pip uninstall --yes --quiet --root-user-action ignore pip \
    && useradd --system --user-group --uid 999 --home-dir /var/lib/ipucloud --create-home ipucloud \
    && install -d -o ipucloud -g ipucloud /var/lib/ipucloud/clients /var/lib/ipucloud/secrets /var/lib/ipucloud/tokens
ENV PATH=/opt/ipucloud/bin:$PATH PYTHONUNBUFFERED=1
USER ipucloud
WORKDIR /var/lib/ipucloud
HEALTHCHECK --interval=10s --timeout=5s --retries=6 CMD ["python", "-m", "ipucloud.process.health"]
CMD ["ipucloud", "--help"]

FROM build AS whole
COPY requirements/runtime.txt requirements/
RUN pip --python /opt/ipucloud/bin/python install --no-cache-dir --only-binary :all: --require-hashes -r requirements/runtime.txt

FROM python:3.12-slim-bookworm AS laboratory
RUN apt-get update && apt-get install --yes --no-install-recommends openssh-client rsync \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --user-group --uid 999 --home-dir /var/lib/ipucloud --create-home --shell /bin/bash ipucloud \
    && install -d -o ipucloud -g ipucloud /var/lib/ipucloud/data /var/lib/ipucloud/site /var/lib/ipucloud/clients
COPY --from=whole /opt/ipucloud /opt/ipucloud
ENV PATH=/opt/ipucloud/bin:$PATH PYTHONUNBUFFERED=1 \
    IPUCLOUD_DATA_DIR=/var/lib/ipucloud/data IPUCLOUD_CONFIG_DIR=/var/lib/ipucloud/data/client
USER ipucloud
WORKDIR /var/lib/ipucloud
EXPOSE 8000 22000-22031
CMD ["ipucloud", "up", "--published", "22000-22031"]
