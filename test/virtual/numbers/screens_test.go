package numbers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/wait"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// output is the text that one output shows.
type output struct{ name, text string }

// outputs returns all outputs, each made from the report in the same way as by the program.
func (m *moment) outputs(t testing.TB, w *waiter) (*explain.Report, []output) {
	report := analysis.Explain(m.input, explain.Options{MaxPods: -1})
	job := m.object(t)
	out := []output{{"status", m.statusRow(t, job)}}
	if w != nil && report.Job.Finished == nil {
		out = append(out, output{"wait", w.line(t, job, m.input.Now)})
	}
	for name, write := range map[string]func(w *bytes.Buffer) error{
		"explanation": func(w *bytes.Buffer) error { return text.Explanation(w, report, text.Options{Full: true}) },
		"short":       func(w *bytes.Buffer) error { return text.Short(w, report, text.Options{}) },
		"summary":     func(w *bytes.Buffer) error { return text.Summary(w, report, text.Options{}) },
		"json":        func(w *bytes.Buffer) error { return json.NewEncoder(w).Encode(report) },
	} {
		var w bytes.Buffer
		assert.NoError(t, write(&w))
		out = append(out, output{name, w.String()})
	}
	return &report, append(out, m.frames(t, &report)...)
}

// object returns the Job as the API server sends it.
func (m *moment) object(t testing.TB) *unstructured.Unstructured {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(m.job())
	assert.NoError(t, err)
	content["apiVersion"], content["kind"] = "batch/v1", "Job"
	return &unstructured.Unstructured{Object: content}
}

func (m *moment) statusRow(t testing.TB, job *unstructured.Unstructured) string {
	var w bytes.Buffer
	now := func() time.Time { return m.input.Now }
	p := jobprinter.NewTablePrinter(&w, jobprinter.Table{Wide: true}, cmdutil.Display{}, true, true, now)
	assert.NoError(t, p.Snapshot([]*unstructured.Unstructured{job}, true))
	return w.String()
}

// still is a Source with a single Snapshot.
type still struct{ snap *snapshot.Snapshot }

func (s still) Look(snapshot.Focus) {}

func (s still) Next(_ context.Context, seen uint64) (*snapshot.Snapshot, error) {
	if seen < s.snap.Seq {
		return s.snap, nil
	}
	return nil, errors.New("there is one only")
}

// frames returns the screens of the view, some seconds after the report was made.
func (m *moment) frames(t testing.TB, r *explain.Report) []output {
	key := types.NamespacedName{Namespace: r.Job.Namespace, Name: r.Job.Name}
	snap := &snapshot.Snapshot{
		Seq: 1, Time: m.input.Now, Focus: snapshot.Focus{Job: key}, Job: &snapshot.Job{Report: r},
		Jobs: &snapshot.Jobs{Items: []explain.Outline{analysis.OutlineOf(m.job(), m.input.RuleNames, m.input.Now)}},
	}
	job := m.open(t, tui.Options{Source: still{snap}, Start: tui.StartJob, Job: key})
	list := m.open(t, tui.Options{Source: still{snap}})
	var out []output
	for _, size := range []tea.WindowSizeMsg{{Width: 80, Height: 24}, {Width: 160, Height: 50}} {
		name := fmt.Sprintf("view%d", size.Width)
		job.Update(size)
		for _, tab := range []struct {
			key  rune
			name string
		}{{'1', ""}, {'2', " indexes"}, {'4', " failures"}, {'5', " pods"}} {
			job.Update(tea.KeyPressMsg{Code: tab.key, Text: string(tab.key)})
			out = append(out, output{name + tab.name, picture(job)})
		}
		list.Update(size)
		out = append(out, output{name + " list", picture(list)})
	}
	return out
}

// open returns a Model that shows the Snapshot.
func (m *moment) open(t testing.TB, o tui.Options) *tui.Model {
	now := m.input.Now
	o.Now = func() time.Time { return now }
	model := tui.New(o)
	now = now.Add(m.late)
	commands, ok := model.Init()().(tea.BatchMsg)
	if !ok || len(commands) == 0 {
		t.Fatal("the view does not ask for a Snapshot")
	}
	model.Update(commands[0]())
	return model
}

func picture(m *tui.Model) string {
	lines := strings.Split(ansi.Strip(m.View().Content), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// waiter runs the verb wait. It is slow, so it is used for a part of the moments only.
type waiter struct {
	api     *clitest.API
	program clitest.Program
}

// waitEvery is n if one in n moments is checked with wait.
const waitEvery = 25

func newWaiter(t *testing.T) *waiter {
	w := &waiter{clitest.NewAPI(t), clitest.ProgramOf(wait.NewCommand)}
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, w.api.URL()))
	return w
}

// line returns wait's output for a Job that has not ended.
func (w *waiter) line(t testing.TB, job *unstructured.Unstructured, now time.Time) string {
	w.api.Put(job)
	defer w.api.Remove(job)
	env := clitest.NewEnv()
	env.Now = func() time.Time { return now }
	ctx, cancel := context.WithTimeout(context.Background(), clitest.Patience)
	defer cancel()
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	err := w.program.Execute(ctx, []string{"wait", job.GetName(), "-n", job.GetNamespace(), "--timeout=0"}, streams, env)
	if err == nil {
		t.Errorf("wait ends at once: %s", out.String())
		return ""
	}
	return errOut.String() + err.Error()
}
