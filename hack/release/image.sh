#!/bin/sh
# Builds the image for linux/amd64 and linux/arm64 from binaries that it builds first; IMAGE_ARCHS
# chooses among them.
# docker (with buildx and a daemon) or buildah makes it, whichever works; IMAGE_TOOL chooses.
# The result is NAME:VERSION-amd64 and NAME:VERSION-arm64 in docker, or with buildah
# bin/image.tar, an OCI archive with both.
set -eu
cd "$(dirname "$0")/../.."
: "${IMAGE:=ghcr.io/batchjob-dev/kubectl-batchjob}" "${VERSION:?}" "${COMMIT:?}" "${LDFLAGS:?}"
: "${IMAGE_ARCHS:=amd64 arm64}"
context=bin/image

tool() {
	if docker buildx version >/dev/null 2>&1 && docker info >/dev/null 2>&1; then
		echo docker
	elif command -v buildah >/dev/null; then
		echo buildah
	fi
}

build() {
	rm -rf $context
	mkdir -p $context/bin/release
	cp LICENSE $context/
	sh hack/release/prepare.sh
	cp bin/release/THIRD_PARTY_NOTICES $context/bin/release/
	for arch in $IMAGE_ARCHS; do
		CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath -buildvcs=false -tags "$TAGS" -ldflags "$LDFLAGS" \
			-o "$context/linux/$arch/" ./cmd/kubectl-batchjob
	done
}

labels="--label org.opencontainers.image.title=kubectl-batchjob
--label org.opencontainers.image.source=https://github.com/batchjob-dev/kubectl-batchjob
--label org.opencontainers.image.licenses=Apache-2.0
--label org.opencontainers.image.version=$VERSION
--label org.opencontainers.image.revision=$COMMIT"

: "${IMAGE_TOOL:=$(tool)}"
case $IMAGE_TOOL in
docker)
	build
	for arch in $IMAGE_ARCHS; do
		# shellcheck disable=SC2086 # labels are words
		docker buildx build --platform linux/$arch --load -t "$IMAGE:$VERSION-$arch" $labels -f Dockerfile $context
	done
	;;
buildah)
	build
	rm -f bin/image.tar
	buildah manifest rm "$IMAGE:$VERSION" >/dev/null 2>&1 || true
	# shellcheck disable=SC2086
	buildah build --isolation chroot --platform "$(printf ',linux/%s' $IMAGE_ARCHS | cut -c 2-)" --manifest "$IMAGE:$VERSION" \
		--format oci --timestamp "$(git log -1 --format=%ct)" $labels -f Dockerfile $context
	buildah manifest push --all "$IMAGE:$VERSION" "oci-archive:bin/image.tar:$IMAGE:$VERSION"
	echo "bin/image.tar holds $IMAGE:$VERSION for $IMAGE_ARCHS; \"podman load -i bin/image.tar\" loads yours"
	;;
*)
	echo "make image needs docker with buildx and a running daemon, or buildah (apt-get install buildah)" >&2
	exit 1
	;;
esac
