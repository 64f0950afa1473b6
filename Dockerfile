# attnlab in a container: one stage builds, the other holds the program and its libraries.
#
#   docker build -t attnlab .
#   docker run -p 127.0.0.1:8080:8080 -v attnlab:/data attnlab

FROM debian:bookworm-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends make
WORKDIR /src
COPY Makefile .
RUN make deps
COPY core core
COPY server server
COPY web web
RUN make install CFLAGS=-O2 DESTDIR=/image PREFIX=/usr

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        libhdf5-103-1 libjansson4 libmicrohttpd12 libopenblas0-serial libsqlite3-0 zlib1g \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log \
    && useradd --system --no-create-home --uid 10001 attnlab \
    && install -d -o attnlab -g attnlab /data
COPY --from=build /image /
USER attnlab
# The container's own network: who reaches the port is the business of `docker run -p`.
ENV ATTNLAB_LISTEN=0.0.0.0:8080 ATTNLAB_DATA=/data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["attnlab", "health"]
ENTRYPOINT ["attnlab"]
CMD ["serve"]
