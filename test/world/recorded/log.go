package recorded

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Log is the log of a run of a container.
type Log struct {
	Pod, Container string
	// Previous is true for the run before the last restart.
	Previous bool
	Text     string
	// At is when all of it was printed, zero if that is not recorded.
	At time.Time
}

// kindOfLog is the kind of logs in recordings, which no API server has.
const kindOfLog = "ContainerLog"

// Object returns the log as an object of a recording.
func (l Log) Object() unstructured.Unstructured {
	return unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "field.batchjob.dev/v1", "kind": kindOfLog, "pod": l.Pod, "container": l.Container, "previous": l.Previous, "text": l.Text,
		"at": l.At.UTC().Format(time.RFC3339),
	}}
}

// LogOf returns the log in an object of a recording, and whether it is one.
func LogOf(object *unstructured.Unstructured) (l Log, ok bool) {
	if object.GetKind() != kindOfLog {
		return l, false
	}
	l.Pod, _ = object.Object["pod"].(string)
	l.Container, _ = object.Object["container"].(string)
	l.Previous, _ = object.Object["previous"].(bool)
	l.Text, _ = object.Object["text"].(string)
	at, _ := object.Object["at"].(string)
	l.At, _ = time.Parse(time.RFC3339, at)
	return l, true
}

// LogText returns a container's log as a kubelet serves it for a query: tailLines and limitBytes limit it, and timestamps puts the time
// before each line. The last one of several logs counts.
func LogText(logs []Log, pod, container string, query url.Values) (text string, ok bool) {
	previous := query.Get("previous") == "true"
	var at time.Time
	for _, l := range logs {
		if l.Pod == pod && l.Container == container && l.Previous == previous {
			text, at, ok = l.Text, l.At, true
		}
	}
	if query.Get("timestamps") == "true" && text != "" {
		stamp := at.UTC().Format(time.RFC3339Nano) + " "
		text = stamp + strings.TrimSuffix(strings.ReplaceAll(text, "\n", "\n"+stamp), stamp)
	}
	if tail, err := strconv.Atoi(query.Get("tailLines")); err == nil {
		lines := slices.Collect(strings.Lines(text))
		text = strings.Join(lines[max(0, len(lines)-tail):], "")
	}
	if limit, err := strconv.Atoi(query.Get("limitBytes")); err == nil {
		text = text[:min(limit, len(text))]
	}
	return text, ok
}
