package controller

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// TestStagesAreLogged reads what a stage writes from the log, which has it at -v=6.
func TestStagesAreLogged(t *testing.T) {
	for verbosity, want := range map[int]string{
		5: "",
		6: `"Create":[{"Index":-1,"Attempt":1,`,
	} {
		var out bytes.Buffer
		logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Verbosity(verbosity), textlogger.Output(&out)))
		f := newFakeCluster(t, nil)
		job := ourJob(1)
		f.addTrusted(job)
		if _, err := f.engine.Sync(klog.NewContext(t.Context(), logger), job.UID); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); strings.Contains(got, `"Stage"`) != (want != "") || !strings.Contains(got, want) || !strings.Contains(got, `"Plan"`) {
			t.Errorf("-v=%d:\n%s", verbosity, got)
		}
	}
}
