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

# Removes what the program does not use: translations, manuals, OpenBLAS's copy of LAPACK.
FROM debian:bookworm-slim AS root
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        libhdf5-103-1 libjansson4 libmicrohttpd12 libnettle8 libopenblas0-pthread libsqlite3-0 libutf8proc2 zlib1g \
    && useradd --system --no-create-home --uid 10001 attnlab \
    && install -d -o attnlab -g attnlab /data \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/* /usr/share/man /usr/share/locale \
        /usr/lib/*/openblas-pthread/liblapack.so.3 \
    && find /usr/share/doc -type f ! -name copyright -delete
COPY --from=build /image /

# Copied into a single layer, because removing files in a layer does not free their space in the layer below.
FROM scratch
COPY --from=root / /
USER attnlab
# The program listens on all of the container's addresses; `docker run -p` decides who can reach the port from outside.
# Everybody who can may run experiments and delete their own. The first start writes the lecturer's token to
# /data/attnlab.token.
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin ATTNLAB_LISTEN=0.0.0.0:8080 ATTNLAB_DATA=/data \
    ATTNLAB_ACCESS=token ATTNLAB_STUDENTS=run ATTNLAB_LOG_LEVEL=info
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["attnlab", "health"]
ENTRYPOINT ["attnlab"]
CMD ["serve"]
