# The image of the controller: the binary, and the licenses of what it is made of. It is
# built from what was built before, so that nothing is downloaded. `make image` lays that
# out in bin/image, and GoReleaser does in a folder of its own:
#
#     linux/amd64/kubectl-batchjob
#     linux/arm64/kubectl-batchjob
#     LICENSE
#     bin/release/THIRD_PARTY_NOTICES
#
# BASE is for an image with a shell in it: --build-arg BASE=busybox
ARG BASE=scratch
FROM ${BASE}
ARG TARGETOS
ARG TARGETARCH
COPY LICENSE bin/release/THIRD_PARTY_NOTICES /licenses/
COPY ${TARGETOS}/${TARGETARCH}/kubectl-batchjob /kubectl-batchjob
# A number: kubelet can tell that it is not root.
USER 65532:65532
ENTRYPOINT ["/kubectl-batchjob"]
CMD ["controller"]
