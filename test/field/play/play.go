// Package play plays the situations of make field on a cluster: it creates their objects, and writes what a kubelet, a
// scheduler and other controllers would write.
package play

import (
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Play is what play.yaml says.
//
// Durations of the past are written without a sign: started: 68s is 68 seconds ago. ${NAMESPACE} in any text, and in the
// manifests, is the namespace; ${POD} in a step about a pod is its name. A pod is pod/JOB, the first pod of the Job, or
// pod/JOB/2, the second one, in the order in which they appear; a step waits for it. Other objects are job/NAME, cronjob/NAME.
type Play struct {
	// Pods is played if the player is scheduler and kubelet, which is the default, or simulated for kwok's nodes.
	Pods string `json:"pods,omitempty"`
	// Controllers run the Jobs: builtin, ours. The case is played once with each; by default with the built-in one.
	Controllers []string `json:"controllers,omitempty"`
	// Labels are added to the namespace.
	Labels map[string]string `json:"labels,omitempty"`
	Steps  []Step            `json:"steps"`
}

// Step is one thing that happens. Exactly one field is set.
type Step struct {
	// Create is a file with objects.
	Create string `json:"create,omitempty"`
	// Pod is the status that a kubelet writes.
	Pod *Pod `json:"pod,omitempty"`
	// Unschedulable is what the scheduler writes about a pod that no node can take.
	Unschedulable *Unschedulable `json:"unschedulable,omitempty"`
	Event         *Event         `json:"event,omitempty"`
	// Wait is a time to let pass.
	Wait  *metav1.Duration `json:"wait,omitempty"`
	Until *Until           `json:"until,omitempty"`
	Patch *Patch           `json:"patch,omitempty"`
	// Delete is an object to delete; a pod goes at once, as on a node that has stopped it.
	Delete string `json:"delete,omitempty"`
	// Evict is a pod to evict with the eviction API.
	Evict   string   `json:"evict,omitempty"`
	Webhook *Webhook `json:"webhook,omitempty"`
}

// Pod is what a kubelet knows. It is written in full: conditions, the images of the pod, and the containers that are not
// named, which wait.
type Pod struct {
	Name string `json:"name"`
	// Node is where it is scheduled, instead of the node that all cases share.
	Node string `json:"node,omitempty"`
	// Phase is Running unless given.
	Phase string `json:"phase,omitempty"`
	// Reason and Message are those of the pod.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Age is how long ago the kubelet has seen the pod first.
	Age metav1.Duration `json:"age,omitempty"`
	// Disruption is the reason of the condition DisruptionTarget; its message is DisruptionMessage, or Message.
	Disruption        string `json:"disruption,omitempty"`
	DisruptionMessage string `json:"disruptionMessage,omitempty"`
	// Rejected is a pod that the kubelet has not admitted: it has a phase, a reason and a message, and nothing else.
	Rejected   bool                 `json:"rejected,omitempty"`
	Containers map[string]Container `json:"containers,omitempty"`
}

// Container is the state of a container, also of an init container.
type Container struct {
	// Exit is the exit code of one that has ended, with Reason (Completed or Error unless given), Message, and when it
	// Started and Ended.
	Exit    *int32          `json:"exit,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	Message string          `json:"message,omitempty"`
	Started metav1.Duration `json:"started,omitempty"`
	Ended   metav1.Duration `json:"ended,omitempty"`
	// Running is how long it has been running.
	Running *metav1.Duration `json:"running,omitempty"`
	// Unready is one that runs, and whose probes do not succeed.
	Unready bool `json:"unready,omitempty"`
	// Waiting is the reason why it waits.
	Waiting  string `json:"waiting,omitempty"`
	Restarts int32  `json:"restarts,omitempty"`
	// Last is how it ended before.
	Last *Container `json:"last,omitempty"`
}

// Unschedulable is the scheduler's message about a pod: a condition and an event.
type Unschedulable struct {
	Pod     string `json:"pod"`
	Message string `json:"message"`
	Count   int32  `json:"count,omitempty"`
}

// Event is an event about an object.
type Event struct {
	About string `json:"about"`
	// Type is Warning unless given.
	Type    string `json:"type,omitempty"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// From is the component; kubelet unless given.
	From  string `json:"from,omitempty"`
	Count int32  `json:"count,omitempty"`
	// Container is one that the event is about.
	Container string `json:"container,omitempty"`
}

// Until waits for a condition of a Job, for an event about an object (pod/ is any pod), or until a Job is deleted.
type Until struct {
	About     string `json:"about"`
	Condition string `json:"condition,omitempty"`
	Event     string `json:"event,omitempty"`
	Deleted   bool   `json:"deleted,omitempty"`
}

// Patch is a merge patch of an object, or of its status. A time in it may be -5m: five minutes ago.
type Patch struct {
	Object string         `json:"object"`
	Status bool           `json:"status,omitempty"`
	Merge  map[string]any `json:"merge"`
}

// Webhook is an admission webhook for the pods of the namespace. It denies them with a message, or does not answer.
type Webhook struct {
	Name   string `json:"name"`
	Denies string `json:"denies,omitempty"`
	// Hangs is one that does not answer within its time limit, a second.
	Hangs bool `json:"hangs,omitempty"`
}

// Read reads the play of a case.
func Read(dir string) (Play, error) {
	p := Play{Pods: played, Controllers: []string{Builtin}}
	data, err := os.ReadFile(filepath.Join(dir, "play.yaml"))
	if err != nil {
		return p, err
	}
	return p, yaml.UnmarshalStrict(data, &p)
}

const (
	played    = "played"
	simulated = "simulated"
)

// The controllers.
const (
	Builtin = "builtin"
	Ours    = "ours"
)
