# attnlab in a container: one stage builds the program, the other becomes the image.
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

# What the program does not use goes again: translations, manuals, OpenBLAS's copy of LAPACK.
FROM debian:bookworm-slim AS root
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        libhdf5-103-1 libjansson4 libmicrohttpd12 libnettle8 libopenblas0-pthread libsqlite3-0 zlib1g \
    && useradd --system --no-create-home --uid 10001 attnlab \
    && install -d -o attnlab -g attnlab /data \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/* /usr/share/man /usr/share/locale \
        /usr/lib/*/openblas-pthread/liblapack.so.3 \
    && find /usr/share/doc -type f ! -name copyright -delete
COPY --from=build /image /

# As one layer, for a layer cannot give back the room of what it removes from the one below.
FROM scratch
COPY --from=root / /
USER attnlab
# All of the container's own network; who reaches the port from outside is for `docker run -p` to say. Whoever does may run
# experiments and delete their own; the lecturer's token is made at the first start, in /data/attnlab.token.
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin ATTNLAB_LISTEN=0.0.0.0:8080 ATTNLAB_DATA=/data \
    ATTNLAB_ACCESS=token ATTNLAB_STUDENTS=run ATTNLAB_LOG_LEVEL=info
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["attnlab", "health"]
ENTRYPOINT ["attnlab"]
CMD ["serve"]
