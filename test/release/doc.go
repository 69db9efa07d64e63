// Package release holds what `make snapshot` left in dist against what a release promises:
// archives, checksums, bills of materials, the manifest for krew, and a plugin that works
// and completes in shells once it is unpacked.
//
// The tests are built with the tag "release". They build nothing, and fail without dist:
// `make test-release` makes it first. They need tmux, bash with bash-completion, and zsh.
package release
