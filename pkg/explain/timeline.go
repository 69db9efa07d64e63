package explain

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
)

// MomentKind is the kind of a Moment.
type MomentKind string

// The kinds of moments.
const (
	MomentCreated           MomentKind = "JobCreated"
	MomentStarted           MomentKind = "JobStarted"
	MomentDeletionRequested MomentKind = "DeletionRequested"
	MomentCondition         MomentKind = "Condition" // Condition changed to Status and Reason
	MomentPodsCreated       MomentKind = "PodsCreated"
	MomentPodsSucceeded     MomentKind = "PodsSucceeded"
	MomentPodsFailed        MomentKind = "PodsFailed" // pods failed with the same Failure
	MomentEvent             MomentKind = "Event"      // Reason and Message
	MomentOmitted           MomentKind = "Omitted"    // Count moments are left out
)

// Moment is an entry of the timeline: an occurrence, or several similar ones.
type Moment struct {
	Kind MomentKind  `json:"kind"`
	Time metav1.Time `json:"time"`
	// Until is the time of the last of several similar occurrences. Count is the number of times an event was reported.
	Until *metav1.Time `json:"until,omitempty"`
	Count int32        `json:"count,omitempty"`
	// What is Job, Pod, Condition or Event.
	What string `json:"what"`
	// Warning is set for bad news.
	Warning bool   `json:"warning,omitempty"`
	Text    string `json:"text"`
	// PodCount is the number of affected pods; Pod is the name of a single one.
	PodCount int32  `json:"podCount,omitempty"`
	Pod      string `json:"pod,omitempty"`
	// Failure is the failure of the pods; Cause describes it in words, with the Ending.
	Cause   string         `json:"cause,omitempty"`
	Failure *cause.Failure `json:"failure,omitempty"`
	// Similar is set if the messages of the events differ in names of pods, ports, or times;
	// Message is one of them.
	Similar bool `json:"similar,omitempty"`
	// Condition, Status and Reason describe a condition; Reason and Message describe an event.
	Condition string `json:"condition,omitempty"`
	Status    string `json:"status,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Message   string `json:"message,omitempty"`
}
