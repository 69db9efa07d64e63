// Package play plays the situations of make field on a cluster: it creates their objects, and writes the statuses and
// events of a kubelet, a scheduler and other controllers.
package play

import (
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Play is the content of play.yaml.
//
// Durations in the past have no sign: started: 68s means 68 seconds ago. ${NAMESPACE} in any text, and in the manifests,
// is the namespace; ${POD} in a step about a pod is the pod's name; ${UID KIND/NAME} in a manifest is the UID of an object. A
// pod is pod/JOB, the first pod of the Job, or pod/JOB/2, the second one, in order of creation; JOB may be CRONJOB-* for the Jobs
// that a CronJob starts. A step waits until the pod exists. Other objects are job/NAME, cronjob/NAME, jobset/NAME, namespace/${NAMESPACE}.
type Play struct {
	// Pods is played (the default) if the player acts as scheduler and kubelet, or simulated for kwok's nodes.
	Pods string `json:"pods,omitempty"`
	// Controllers are the controllers that run the Jobs: builtin, ours. The case is played once with each; the
	// default is builtin.
	Controllers []string `json:"controllers,omitempty"`
	// Labels are added to the namespace.
	Labels map[string]string `json:"labels,omitempty"`
	Steps  []Step            `json:"steps"`
}

// Step is one action. Exactly one field is set.
type Step struct {
	// Create is a file with objects.
	Create string `json:"create,omitempty"`
	// Pod is a status written by a kubelet.
	Pod *Pod `json:"pod,omitempty"`
	// Unschedulable is the scheduler's report about a pod that fits on no node.
	Unschedulable *Unschedulable `json:"unschedulable,omitempty"`
	Event         *Event         `json:"event,omitempty"`
	Log           *Log           `json:"log,omitempty"`
	// Wait is a delay.
	Wait  *metav1.Duration `json:"wait,omitempty"`
	Until *Until           `json:"until,omitempty"`
	Patch *Patch           `json:"patch,omitempty"`
	// Delete is an object to delete; a pod is removed at once, as if its node had stopped it.
	Delete string `json:"delete,omitempty"`
	// Orphan is an object to delete without the objects that it owns.
	Orphan string `json:"orphan,omitempty"`
	// Evict is a pod to evict with the eviction API.
	Evict   string   `json:"evict,omitempty"`
	Webhook *Webhook `json:"webhook,omitempty"`
	Refuse  *Refuse  `json:"refuse,omitempty"`
}

// Pod is a kubelet's status of a pod. The player fills in the rest: conditions, images, and the containers that are not
// named, which are waiting.
type Pod struct {
	Name string `json:"name"`
	// Node is the node of the pod, if it is not the node that all cases share.
	Node string `json:"node,omitempty"`
	// Phase defaults to Running.
	Phase string `json:"phase,omitempty"`
	// Reason and Message are the pod's reason and message.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Age is the time since the kubelet first saw the pod.
	Age metav1.Duration `json:"age,omitempty"`
	// Disruption is the reason of the condition DisruptionTarget; its message is DisruptionMessage, or Message.
	Disruption        string `json:"disruption,omitempty"`
	DisruptionMessage string `json:"disruptionMessage,omitempty"`
	// Rejected is true for a pod that the kubelet did not admit: its status has only a phase, a reason and a
	// message.
	Rejected   bool                 `json:"rejected,omitempty"`
	Containers map[string]Container `json:"containers,omitempty"`
}

// Container is the state of a container or init container.
type Container struct {
	// Exit is the exit code of a terminated container, with Reason (by default Completed or Error), Message, and the
	// times since it Started and Ended.
	Exit    *int32          `json:"exit,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	Message string          `json:"message,omitempty"`
	Started metav1.Duration `json:"started,omitempty"`
	Ended   metav1.Duration `json:"ended,omitempty"`
	// Running is the time since a running container started.
	Running *metav1.Duration `json:"running,omitempty"`
	// Unready is true for a running container whose probes fail.
	Unready bool `json:"unready,omitempty"`
	// Waiting is the reason why the container is waiting.
	Waiting  string `json:"waiting,omitempty"`
	Restarts int32  `json:"restarts,omitempty"`
	// Last is the last termination state.
	Last *Container `json:"last,omitempty"`
}

// Unschedulable is the scheduler's report about a pod: a condition and an event.
type Unschedulable struct {
	Pod     string `json:"pod"`
	Message string `json:"message"`
	Count   int32  `json:"count,omitempty"`
}

// Event is an event about an object.
type Event struct {
	About string `json:"about"`
	// Type defaults to Warning.
	Type    string `json:"type,omitempty"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// From is the reporting component, by default kubelet.
	From  string `json:"from,omitempty"`
	Count int32  `json:"count,omitempty"`
	// Age is the time since the event, as the component reports it.
	Age metav1.Duration `json:"age,omitempty"`
	// Container is the container that the event is about.
	Container string `json:"container,omitempty"`
}

// Log is the log of a container, which the kubelet of the shared node serves once all steps are played, while its pod
// exists. A container in back-off has one log: that of its last run, with previous and without.
type Log struct {
	Pod       string `json:"pod"`
	Container string `json:"container"`
	// Previous is true for the log of the run before the last restart.
	Previous bool   `json:"previous,omitempty"`
	Text     string `json:"text"`
	// Age is how long ago it was printed.
	Age metav1.Duration `json:"age,omitempty"`
}

// Until waits for a condition of an object, for an event about an object (pod/ is any pod), or until an object is deleted.
type Until struct {
	About     string `json:"about"`
	Condition string `json:"condition,omitempty"`
	Event     string `json:"event,omitempty"`
	Deleted   bool   `json:"deleted,omitempty"`
}

// Patch is a merge patch of an object or of its status. A time in it may be relative: -5m is five minutes ago.
type Patch struct {
	Object string `json:"object"`
	Status bool   `json:"status,omitempty"`
	// Manager is the field manager, by default kubectl-edit.
	Manager string         `json:"manager,omitempty"`
	Merge   map[string]any `json:"merge"`
}

// Webhook is an admission webhook for the pods of the namespace. It denies them with a message or does not answer.
type Webhook struct {
	Name   string `json:"name"`
	Denies string `json:"denies,omitempty"`
	// Hangs is true for a webhook that does not answer within its timeout of one second.
	Hangs bool `json:"hangs,omitempty"`
}

// Refuse makes the API server refuse the pods of the namespace, as an admission plugin in it does: pods "NAME" MESSAGE.
type Refuse struct {
	// Pods is the message.
	Pods string `json:"pods"`
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
