package cmdutil

import (
	"runtime/debug"
	"testing"
)

func TestVersionSources(t *testing.T) {
	build := &debug.BuildInfo{Main: debug.Module{Version: "v1.0.0"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}}
	for _, tc := range []struct {
		name            string
		version, commit string
		build           *debug.BuildInfo
		wantVersion     string
		wantCommit      string
	}{
		{"linker wins", "v2.0.0", "def", build, "v2.0.0", "def"},
		{"toolchain", "", "", build, "v1.0.0", "abc-dirty"},
		{"nothing", "", "", nil, "unknown", "unknown"},
	} {
		got := newVersionInfo(tc.version, tc.commit, tc.build)
		if got.Version != tc.wantVersion || got.GitCommit != tc.wantCommit {
			t.Errorf("%s: %s %s", tc.name, got.Version, got.GitCommit)
		}
	}
}
