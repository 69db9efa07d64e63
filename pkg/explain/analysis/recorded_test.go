package analysis_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/goldenfile"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// later are the cases that are explained a second time, after this duration without any change.
var later = map[string]time.Duration{
	"unknown-managed-by": 10 * time.Minute, "unknown-managed-by.builtin": 10 * time.Minute,
	"controller-gone": 5 * time.Minute, "vanished-node": 10 * time.Minute, "vanished-node.builtin": 10 * time.Minute,
	"terminating-holds-slot": 15 * time.Minute, "image-pull": time.Hour,
}

func cases(t *testing.T) []recorded.Case {
	t.Helper()
	files, err := recorded.Files(filepath.Join("testdata", "recorded"))
	if err != nil || len(files) < 60 {
		t.Fatalf("%d recorded cases, %v", len(files), err)
	}
	var all []recorded.Case
	for _, file := range files {
		c, err := recorded.Load(file)
		assert.NoError(t, err)
		if wait, ok := later[c.Name]; ok {
			all = append(all, c)
			c, err = recorded.Load(file)
			assert.NoError(t, err)
			c.Name += ".later"
			for i := range c.Inputs {
				f := &c.Inputs[i]
				f.Now = f.Now.Add(wait)
				if f.Lease != nil && !strings.HasPrefix(c.Name, "controller-gone") {
					f.Lease.Renewed = f.Now.Add(-time.Second)
				}
				if strings.HasPrefix(c.Name, "vanished-node") {
					c.Inputs[i].GoneNodes = map[string]string{c.Inputs[i].Pods[0].Node: "it no longer exists"}
				}
			}
		}
		all = append(all, c)
	}
	return all
}

// The output of status and why for every recorded Job, of the built-in controller and of ours: a failure of each reason, each
// stall, each interim state. A short answer fits half a screen, and its first command comes early.
// Requirements: CLI-04, CLI-05, CLI-06, CLI-40
func TestRecordedJobsAreExplained(t *testing.T) {
	written := map[string]bool{}
	for _, c := range cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			var got bytes.Buffer
			got.WriteString("# " + c.What + "\n")
			reports := make([]explain.Report, 0, len(c.Inputs))
			for _, f := range c.Inputs {
				reports = append(reports, analysis.Explain(f, explain.Options{}))
			}
			for _, r := range reports {
				draw(t, &got, "kubectl batchjob status "+r.Job.Name, func() error { return text.Summary(&got, r, text.Options{Width: 80}) })
				draw(t, &got, "kubectl batchjob why "+r.Job.Name, func() error {
					at, most := got.Len(), 14
					if len(section.OwnCauses(&r))+len(r.Problems) > 2 {
						most = 24
					}
					err := text.Short(&got, r, text.Options{Width: 80})
					lines := strings.Split(got.String()[at:], "\n")
					first := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "kubectl ") })
					if n := len(lines) - 1; n > most || first >= most-1 {
						t.Errorf("why takes %d lines, want at most %d, and has a command on line %d:\n%s", n, most, first+1, got.Bytes()[at:])
					}
					return err
				})
				draw(t, &got, "kubectl batchjob why "+r.Job.Name+" --full", func() error { return text.Explanation(&got, r, text.Options{Width: 100}) })
			}
			if len(reports) > 1 {
				draw(t, &got, "kubectl batchjob why -l …", func() error {
					return text.Explanations(&got, analysis.List(reports), text.Options{Width: 100})
				})
			}
			golden(t, c.Name+".txt", recorded.Trim(got.Bytes()))
		})
		written[c.Name+".txt"] = true
	}
	files, _ := filepath.Glob(filepath.Join("testdata", "golden", "*.txt"))
	for _, file := range files {
		if !written[filepath.Base(file)] {
			t.Errorf("%s belongs to no recorded case", file)
		}
	}
}

func draw(t *testing.T, out *bytes.Buffer, command string, write func() error) {
	t.Helper()
	out.WriteString("\n$ " + command + "\n")
	assert.NoError(t, write())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	goldenfile.Compare(t, filepath.Join("testdata", "golden", name), string(got))
}

// The order in which pods and events were read does not change the report.
func TestOrderDoesNotMatter(t *testing.T) {
	for _, c := range cases(t) {
		for _, f := range c.Inputs {
			want := render(t, f)
			slices.Reverse(f.Pods)
			slices.Reverse(f.Events)
			assert.Equalf(t, render(t, f), want, "%s, with pods and events in another order", c.Name)
		}
	}
}

func render(t *testing.T, f input.Input) string {
	t.Helper()
	var b bytes.Buffer
	assert.NoError(t, text.Explanation(&b, analysis.Explain(f, explain.Options{}), text.Options{Full: true}))
	return b.String()
}
