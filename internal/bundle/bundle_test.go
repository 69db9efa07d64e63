package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// bundled writes the contents to a bundle, and returns the contents read back and the archive.
func bundled(t *testing.T, c *Contents, patterns ...*regexp.Regexp) (*Contents, []byte) {
	t.Helper()
	var archive bytes.Buffer
	if _, err := Write(&archive, c, patterns); err != nil {
		t.Fatal(err)
	}
	read, err := Read(bytes.NewReader(archive.Bytes()))
	assert.NoError(t, err)
	return read, archive.Bytes()
}

// contentsOf returns the contents that would have been collected for a recorded Job.
func contentsOf(c *recorded.Case, i int) *Contents {
	in := &c.Inputs[i]
	contents := &Contents{Job: c.Jobs[i], Manifest: Manifest{
		TypeMeta:  metav1.TypeMeta{APIVersion: explain.APIVersion, Kind: Kind},
		Namespace: in.Job.Namespace, Name: in.Job.Name, Taken: metav1.NewTime(in.Now), PodsRead: true, EventsRead: true, RelativesRead: in.RelativesRead, Lease: in.Lease,
	}}
	for _, pod := range c.Pods {
		if observe.JobUID(&pod) == in.Job.UID {
			contents.Pods = append(contents.Pods, pod)
		}
	}
	for _, event := range c.Events {
		about := event.InvolvedObject
		if about.UID == in.Job.UID || about.Kind == "Pod" && strings.HasPrefix(about.Name, in.Job.Name+"-") {
			contents.Events = append(contents.Events, event)
		}
	}
	for _, relative := range in.Relatives {
		other := Relative{Job: *relative.Job, PodsRead: relative.PodsRead}
		for _, pod := range c.Pods {
			if observe.JobUID(&pod) == relative.Job.UID {
				other.Pods = append(other.Pods, pod)
			}
		}
		contents.Relatives = append(contents.Relatives, other)
	}
	return contents
}

func asJSON(t *testing.T, report explain.Report) string {
	t.Helper()
	data, err := json.MarshalIndent(report, "", " ")
	assert.NoError(t, err)
	return string(data)
}

// For every recorded Job, the explanation of the bundle equals the explanation of the cluster.
// Requirements: BUN-01
func TestReportsSurviveABundle(t *testing.T) {
	files, err := recorded.Files("../../pkg/explain/analysis/testdata/recorded")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		c, err := recorded.Load(path)
		assert.NoError(t, err)
		for i := range c.Inputs {
			read, archive := bundled(t, contentsOf(&c, i))
			input, err := read.Input()
			assert.NoError(t, err)
			want, got := asJSON(t, analysis.Explain(c.Inputs[i], explain.Options{})), asJSON(t, analysis.Explain(input, explain.Options{}))
			assert.Equal(t, difference(want, got), "", c.Name)
			checkRecording(t, &c.Inputs[i], archive)
			checkAnswer(t, analysis.Explain(input, explain.Options{MaxPods: -1}), unpacked(t, archive)[reportHTML])
		}
	}
}

// difference returns the first line that differs, "" for none.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return "line " + a[i] + " became " + b[i]
		}
	}
	if len(a) != len(b) {
		return "some lines are gone"
	}
	return ""
}

// checkAnswer compares the first lines of report.html with the output of why.
func checkAnswer(t *testing.T, report explain.Report, page string) {
	t.Helper()
	var printed strings.Builder
	assert.NoError(t, text.Short(&printed, report, text.Options{Width: textWidth}))
	_, answer, _ := strings.Cut(page, `<pre class="answer">`)
	answer, _, _ = strings.Cut(answer, "</pre>")
	if d := difference(strings.Replace(printed.String(), "--full: ", reportText+": ", 1), html.UnescapeString(answer)); d != "" {
		t.Errorf("%s: %s", report.Job.Name, d)
	}
}

// checkRecording plays the recording in a bundle.
func checkRecording(t *testing.T, in *input.Input, archive []byte) {
	t.Helper()
	recording, err := Recording(bytes.NewReader(archive))
	assert.NoError(t, err)
	player, err := snapshot.NewPlayer(bytes.NewReader(recording), stopped{}, 1)
	assert.NoError(t, err)
	s, err := player.Next(t.Context(), 0)
	if err != nil || s.Job == nil || s.Job.Report.Job.Name != in.Job.Name || len(s.Jobs.Items) != 1 {
		t.Errorf("%s: the recording shows %+v, %v", in.Job.Name, s, err)
	}
}

// simple returns the contents for a Job with a failed pod, an environment, and a log.
func simple(lines ...string) *Contents {
	env := []any{
		map[string]any{"name": "PASSWORD", "value": "hunter22"},
		map[string]any{"name": "FROM", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": "s", "key": "k"}}},
	}
	job := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{
			"name": "train", "namespace": "ml", "uid": "u",
			"annotations":   map[string]any{lastAppliedBy: `{"spec":"s3cr3t-in-annotation"}`, "note": "kept"},
			"managedFields": []any{map[string]any{"manager": "someone"}},
		},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
			"name": "main", "image": "i", "env": env, "args": []any{"--db=postgres://app:Tr0ub4dor@db/x"},
		}}}}},
	}}
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "train-a", Namespace: "ml", UID: "p", OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: "train", UID: "u"}}}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Env: []corev1.EnvVar{{Name: "PASSWORD", Value: "hunter22"}}}}
	pod.Status.Phase = corev1.PodFailed
	return &Contents{
		Job: job, Pods: []corev1.Pod{pod}, Logs: []Log{{Pod: "train-a", Container: "main", Lines: lines}, {Pod: "train-a", Container: "main", Previous: true, Lines: []string{"before"}}},
		Manifest: Manifest{TypeMeta: metav1.TypeMeta{APIVersion: explain.APIVersion, Kind: Kind}, Namespace: "ml", Name: "train", Taken: metav1.NewTime(time.Unix(1_800_000_000, 0)), PodsRead: true},
	}
}

// unpacked returns the files of a bundle.
func unpacked(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	files := map[string]string{}
	assert.NoError(t, eachFile(bytes.NewReader(archive), func(name string, r io.Reader) error {
		data, err := io.ReadAll(r)
		files[name] = string(data)
		return err
	}))
	return files
}

// stopped is a stopped clock, for recordings that are read without delays.
type stopped struct{}

func (stopped) Now() time.Time { return time.Time{} }

func (stopped) Wait(context.Context, time.Duration) error { return nil }
