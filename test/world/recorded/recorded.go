// Package recorded reads and writes recordings: Jobs with their pods, events and leases, as an API server served them. Tests read
// those of test/world/field/recordings, which make field writes, and those of pkg/explain/analysis/testdata/recorded.
package recorded

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

// OurName is the managedBy value of the Jobs that our controller ran.
const OurName = "batchjob.dev/controller"

// Case is one recorded moment.
type Case struct {
	Name string
	// What describes the situation, as written by the author of the recording.
	What string
	// Inputs are the inputs of the explanation, one per Job.
	Inputs []input.Input
	// Jobs, Pods and Events are the objects.
	Jobs   []*unstructured.Unstructured
	Pods   []corev1.Pod
	Events []corev1.Event
}

// Files returns the paths of all cases in a folder, in order.
func Files(folder string) ([]string, error) {
	return filepath.Glob(filepath.Join(folder, "*.yaml"))
}

// ErrNoJob is the error for a recording without a Job, such as a CronJob that started none.
var ErrNoJob = errors.New("no Job")

// Items reads a recording: the time of the API server, the description of the situation, and the objects as JSON.
func Items(file string) (at time.Time, what string, items []json.RawMessage, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return at, "", nil, err
	}
	head := header(string(data))
	if at, err = time.Parse(time.RFC3339, head["recorded at"]); err != nil {
		return at, "", nil, fmt.Errorf("%s: %w", file, err)
	}
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := yaml.Unmarshal(data, &list); err != nil {
		return at, "", nil, fmt.Errorf("%s: %w", file, err)
	}
	return at, head["what"], list.Items, nil
}

// Load reads a case.
func Load(file string) (Case, error) {
	now, what, items, err := Items(file)
	if err != nil {
		return Case{}, err
	}
	c := Case{Name: strings.TrimSuffix(filepath.Base(file), ".yaml"), What: what}
	all := objects{}
	for _, item := range items {
		if err := all.add(item); err != nil {
			return Case{}, fmt.Errorf("%s: %w", file, err)
		}
	}
	for i := range all.jobs {
		c.Inputs = append(c.Inputs, all.facts(&all.jobs[i], now))
	}
	for i := range c.Inputs {
		c.Inputs[i].RelativesRead = true
		relatives := slices.Delete(slices.Clone(c.Inputs), i, i+1)
		for j := range relatives {
			relatives[j].Relatives = nil
		}
		c.Inputs[i].Relatives = relatives
	}
	c.Jobs, c.Pods, c.Events = all.objects, all.pods, all.events
	if len(c.Inputs) == 0 {
		return Case{}, fmt.Errorf("%s: %w", file, ErrNoJob)
	}
	return c, nil
}

// header parses the comment lines at the top.
func header(text string) map[string]string {
	head := map[string]string{}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "# ") {
			break
		}
		key, value, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "# ")), ": ")
		head[key] = value
	}
	return head
}

type objects struct {
	jobs    []observe.NamedJob
	objects []*unstructured.Unstructured // the jobs
	pods    []corev1.Pod
	events  []corev1.Event
	lease   *coordinationv1.Lease
	// workloads are Kueue's Workloads.
	workloads []kueue.Object
}

func (o *objects) add(data json.RawMessage) error {
	var head struct{ Kind string }
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	switch head.Kind {
	case "Job":
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(data); err != nil {
			return err
		}
		o.objects = append(o.objects, object)
		o.jobs = append(o.jobs, observe.NamedJob{})
		return o.jobs[len(o.jobs)-1].UnmarshalJSON(data)
	case "Pod":
		o.pods = append(o.pods, corev1.Pod{})
		return json.Unmarshal(data, &o.pods[len(o.pods)-1])
	case "Event":
		o.events = append(o.events, corev1.Event{})
		return json.Unmarshal(data, &o.events[len(o.events)-1])
	case "Workload":
		o.workloads = append(o.workloads, kueue.Object{})
		return json.Unmarshal(data, &o.workloads[len(o.workloads)-1])
	case "Lease":
		o.lease = &coordinationv1.Lease{}
		return json.Unmarshal(data, o.lease)
	}
	return nil
}

func (o *objects) facts(job *observe.NamedJob, now time.Time) input.Input {
	f := input.Input{Now: now, OurName: OurName, Job: &job.Job, RuleNames: job.RuleNames, PodsRead: true, EventsRead: true}
	for i := range o.pods {
		if observe.JobUID(&o.pods[i]) == job.UID {
			f.Pods = append(f.Pods, input.PodOf(&o.pods[i]))
		}
	}
	for i := range o.events {
		e := &o.events[i]
		if e.InvolvedObject.UID == job.UID || e.InvolvedObject.Kind == "Pod" && strings.HasPrefix(e.InvolvedObject.Name, job.Name+"-") {
			f.Events = append(f.Events, input.EventOf(e))
		}
	}
	for i := range o.workloads {
		if o.workloads[i].IsOf(&job.Job) {
			f.Workload = o.workloads[i].Workload()
		}
	}
	if o.lease != nil {
		l := input.LeaseOf(o.lease)
		f.Lease = &l
	}
	return f
}

// Trim removes white space at the ends of lines, for golden files.
func Trim(text []byte) []byte {
	lines := bytes.Split(text, []byte("\n"))
	for i := range lines {
		lines[i] = bytes.TrimRight(lines[i], " ")
	}
	return bytes.Join(lines, []byte("\n"))
}
