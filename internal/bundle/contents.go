package bundle

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
)

// Kind is the kind of a Manifest.
const Kind = "JobBundle"

// Contents holds the data of a bundle.
type Contents struct {
	Manifest Manifest
	Job      *unstructured.Unstructured
	Pods     []corev1.Pod
	Events   []corev1.Event
	// Nodes are the nodes of pods that failed or were terminating.
	Nodes []corev1.Node
	Logs  []Log
	// Relatives are the other Jobs of its retry family.
	Relatives []Relative
}

// Relative is another Job of the retry family. Its pods are read if it has finished with failures.
type Relative struct {
	Job      batchv1.Job  `json:"job"`
	Pods     []corev1.Pod `json:"pods,omitempty"`
	PodsRead bool         `json:"podsRead,omitempty"`
}

// Manifest describes a bundle.
type Manifest struct {
	metav1.TypeMeta `json:",inline"`
	Namespace       string `json:"namespace"`
	Name            string `json:"name"`
	// Taken is when the objects were read.
	Taken metav1.Time `json:"taken"`
	// Client and Server are the versions of this program and of the API server.
	Client string `json:"client,omitempty"`
	Server string `json:"server,omitempty"`
	// PodsRead and the following fields are the same as in input.Input.
	PodsRead      bool         `json:"podsRead"`
	EventsRead    bool         `json:"eventsRead"`
	RelativesRead bool         `json:"relativesRead"`
	Lease         *input.Lease `json:"lease,omitempty"`
	// Workload is the Workload of a Job that Kueue holds suspended.
	Workload  *kueue.Workload   `json:"workload,omitempty"`
	GoneNodes map[string]string `json:"goneNodes,omitempty"`
	// Files lists all other files.
	Files []string `json:"files"`
	// Removed lists the removed secrets, Cut the data left out for its size, and Gaps the data that could not be read.
	Removed []Removal   `json:"removed,omitempty"`
	Cut     []string    `json:"cut,omitempty"`
	Gaps    []input.Gap `json:"gaps,omitempty"`
}

// Removal is a kind of secret that was removed from a file Count times.
type Removal struct {
	What  string `json:"what"`
	File  string `json:"file"`
	Count int    `json:"count"`
}

// Log is the end of a container's log.
type Log struct {
	Pod       string
	Container string
	// Previous is set for the run before the last restart.
	Previous bool
	Lines    []string
}

// tailLines is how many lines of a log belong to the evidence of a report.
const tailLines = 10

// Input returns the input of an explanation.
func (c *Contents) Input() (input.Input, error) {
	job, err := feed.NamedJob(c.Job)
	if err != nil {
		return input.Input{}, err
	}
	m := &c.Manifest
	given := input.Input{
		Now: m.Taken.Time, OurName: controller.DefaultManagedBy, Job: &job.Job, RuleNames: job.RuleNames,
		PodsRead: m.PodsRead, EventsRead: m.EventsRead, RelativesRead: m.RelativesRead, Lease: m.Lease, Workload: m.Workload, GoneNodes: m.GoneNodes, Gaps: m.Gaps,
	}
	given.Pods = podsOf(c.Pods)
	for i := range c.Events {
		given.Events = append(given.Events, input.EventOf(&c.Events[i]))
	}
	for i := range c.Relatives {
		r := &c.Relatives[i]
		given.Relatives = append(given.Relatives, input.Input{Job: &r.Job, Pods: podsOf(r.Pods), PodsRead: r.PodsRead})
	}
	for _, t := range analysis.LogTargets(given, explain.Options{}, gather.MaxLogs) {
		if log := c.log(t.Pod, t.Container, t.Previous); log != nil {
			given.Logs = append(given.Logs, input.NewLogTail(t.Pod, t.Container, log.Lines, tailLines, false))
		}
	}
	return given, nil
}

func podsOf(objects []corev1.Pod) (pods []*input.Pod) {
	for i := range objects {
		pods = append(pods, input.PodOf(&objects[i]))
	}
	return pods
}

func (c *Contents) log(pod, container string, previous bool) *Log {
	i := slices.IndexFunc(c.Logs, func(l Log) bool { return l.Pod == pod && l.Container == container && l.Previous == previous })
	if i < 0 {
		return nil
	}
	return &c.Logs[i]
}
