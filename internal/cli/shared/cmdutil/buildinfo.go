package cmdutil

import (
	"cmp"
	"runtime"
	"runtime/debug"
)

// Set by the linker in releases:
//
//	-X github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil.Version=v1.2.3
//	-X github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil.GitCommit=<sha>
//
// Without them the build information of the Go toolchain is used.
var (
	Version   string
	GitCommit string
)

// VersionInfo identifies a build. It is also the JSON and YAML output.
type VersionInfo struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Version    string `json:"version"`   // v1.2.3, "(devel)" for a local build
	GitCommit  string `json:"gitCommit"` // with "-dirty" for a changed work tree
	GoVersion  string `json:"goVersion"`
	Platform   string `json:"platform"` // GOOS/GOARCH
}

// CurrentVersion returns the version of the running binary.
func CurrentVersion() VersionInfo {
	info, _ := debug.ReadBuildInfo()
	return newVersionInfo(Version, GitCommit, info)
}

// newVersionInfo prefers the linker's values; build may be nil.
func newVersionInfo(version, commit string, build *debug.BuildInfo) VersionInfo {
	if build == nil {
		build = &debug.BuildInfo{}
	}
	settings := map[string]string{}
	for _, s := range build.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	if revision != "" && settings["vcs.modified"] == "true" {
		revision += "-dirty"
	}
	return VersionInfo{
		APIVersion: OutputAPIVersion,
		Kind:       "Version",
		Version:    cmp.Or(version, build.Main.Version, "unknown"),
		GitCommit:  cmp.Or(commit, revision, "unknown"),
		GoVersion:  runtime.Version(),
		Platform:   runtime.GOOS + "/" + runtime.GOARCH,
	}
}
