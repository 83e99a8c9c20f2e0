FROM python:3.12-slim-bookworm AS build
WORKDIR /build
COPY requirements/runtime.txt requirements/build.txt requirements/panel.txt requirements/
RUN python -m venv /opt/ipucloud \
    && /opt/ipucloud/bin/pip install --no-cache-dir --only-binary :all: --require-hashes -r requirements/runtime.txt \
    && pip install --no-cache-dir --only-binary :all: --require-hashes -r requirements/build.txt -r requirements/panel.txt
COPY pyproject.toml README.md LICENSE ./
COPY docs/errors.md docs/
COPY alembic alembic
COPY panel panel
COPY src src
RUN IPUCLOUD_PANEL=require pip wheel --no-deps --no-build-isolation --no-index --wheel-dir wheels . \
    && /opt/ipucloud/bin/pip install --no-deps --no-index wheels/*.whl

FROM python:3.12-slim-bookworm
COPY --from=build /opt/ipucloud /opt/ipucloud
RUN useradd --system --user-group --home-dir /var/lib/ipucloud --create-home ipucloud \
    && install -d -o ipucloud -g ipucloud /var/lib/ipucloud/site /var/lib/ipucloud/clients \
        /var/lib/ipucloud/secrets
ENV PATH=/opt/ipucloud/bin:$PATH PYTHONUNBUFFERED=1
USER ipucloud
WORKDIR /var/lib/ipucloud
CMD ["ipucloud", "--help"]
