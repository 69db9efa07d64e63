// Package release checks the output of `make snapshot` in dist: archives, checksums, bills of materials, the manifest
// for krew, and a plugin that works and completes in shells once it is unpacked.
//
// The tests have the build tag release. They build nothing, and fail without dist: `make test-release` builds it first.
// They need tmux, bash with bash-completion, zsh and fish.
package release
