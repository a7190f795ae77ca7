# syntax=docker/dockerfile:1
# Two stages: wheels are built with the tools they need, the image that runs has none of them and no root.
FROM python:3.11-slim-bookworm AS build
WORKDIR /src
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/sizewise
COPY constraints.txt ./
COPY pyproject.toml README.md LICENSE ./
COPY sizing ./sizing
COPY knowledge ./knowledge
COPY bot ./bot
COPY playground ./playground
ARG EXTRAS=embeddings
RUN /opt/sizewise/bin/pip install --constraint constraints.txt ".[${EXTRAS}]"

FROM python:3.11-slim-bookworm
RUN useradd --system --uid 10001 --create-home --home-dir /home/sizewise sizewise \
 && install --directory --owner sizewise --group sizewise /data
COPY --from=build /opt/sizewise /opt/sizewise
ENV PATH=/opt/sizewise/bin:$PATH SIZEWISE_DATA_DIR=/data PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001
WORKDIR /home/sizewise
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:3000/healthz', timeout=4)"]
ENTRYPOINT ["sizewise"]
CMD ["serve"]
