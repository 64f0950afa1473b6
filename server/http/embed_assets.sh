#!/bin/sh
# Writes the table of embedded files (server/http/assets.h) as C: embed_assets.sh WEB_FOLDER CHARTJS > assets_embedded.c
# The assembler includes every file of the folder unchanged, and Chart.js as /vendor/chart.min.js.
set -eu
web=$1
chartjs=$2

if [ ! -r "$chartjs" ]; then
    echo "Chart.js is missing at $chartjs: install libjs-chart.js, or name another build with make CHARTJS=file" >&2
    exit 1
fi

list_files() {
    [ ! -d "$web" ] || (cd "$web" && find . -type f ! -name '.*' | sort | sed 's|^\.||')
}

# include INDEX FILE
include() {
    printf '__asm__(".section .rodata\\n.balign 16\\nasset_%d_begin:\\n.incbin \\"%s\\"\\nasset_%d_end:\\n.byte 0\\n.previous");\n' \
        "$1" "$2" "$1"
    printf 'extern const unsigned char asset_%d_begin[], asset_%d_end[];\n' "$1" "$1"
}

# entry INDEX PATH FILE
entry() {
    printf '    {"%s", asset_%d_begin, asset_%d_end, "\\"%s\\""},\n' "$2" "$1" "$1" "$(sha256sum "$3" | cut -c1-20)"
}

printf '#include "server/http/assets.h"\n\n'
include 0 "$chartjs"
index=1
for path in $(list_files); do
    include $index "$web$path"
    index=$((index + 1))
done
printf '\nconst struct asset embedded_assets[] = {\n'
entry 0 /vendor/chart.min.js "$chartjs"
index=1
for path in $(list_files); do
    entry $index "$path" "$web$path"
    index=$((index + 1))
done
printf '};\nconst size_t embedded_asset_count = sizeof embedded_assets / sizeof *embedded_assets;\n'
