package explain

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
)

// JobSetState is the state of a JobSet.
type JobSetState string

// The states.
const (
	JobSetRunning         JobSetState = "Running"
	JobSetCompleted       JobSetState = "Completed"       // its condition
	JobSetFailed          JobSetState = "Failed"          // its condition
	JobSetSuspended       JobSetState = "Suspended"       // spec.suspend
	JobSetStarting        JobSetState = "Starting"        // condition StartupPolicyInProgress
	JobSetJobsSuspended   JobSetState = "JobsSuspended"   // its Jobs are suspended, and it is not
	JobSetCreationRefused JobSetState = "CreationRefused" // it has no Jobs, and its events say why
	JobSetNoJobs          JobSetState = "NoJobs"          // and no event says why
	JobSetGone            JobSetState = "Gone"            // the JobSet does not exist; its Jobs do
	JobSetUnread          JobSetState = "Unread"          // the JobSet could not be read
)

// JobSetReport explains a JobSet at one moment.
type JobSetReport struct {
	Namespace string      `json:"namespace"`
	Name      string      `json:"name"`
	State     JobSetState `json:"state"`
	// Sentence is the answer, with at most 160 characters. Notes add to it. Each ends with a full stop.
	Sentence string   `json:"sentence"`
	Notes    []string `json:"notes,omitempty"`
	// Reason, Message and Since come from the condition behind the state.
	Reason  string       `json:"reason,omitempty"`
	Message string       `json:"message,omitempty"`
	Since   *metav1.Time `json:"since,omitempty"`
	// Jobs is the number of existing Jobs, Wanted the number of Jobs in the spec, and Succeeded the number of successful ones.
	Jobs      int32 `json:"jobs"`
	Wanted    int32 `json:"wanted"`
	Succeeded int32 `json:"succeeded"`
	// Restarts is status.restarts; MaxRestarts is nil without a failurePolicy.
	Restarts    int32  `json:"restarts"`
	MaxRestarts *int32 `json:"maxRestarts,omitempty"`
	// Rules are the rules of the failurePolicy with the action FailJobSet.
	Rules []string `json:"rules,omitempty"`
	// SuccessPolicy lists the replicatedJobs that have to succeed; empty without a successPolicy.
	SuccessPolicy []string `json:"successPolicy,omitempty"`
	// Job is the Job that decided the state, or is stalled; nil if none is known.
	Job *OwnedRun `json:"job,omitempty"`
	// Held is what keeps Kueue from admitting the JobSet (Suspended), nil if that is unknown.
	Held *Suspension `json:"held,omitempty"`
	// Waits lists replicatedJobs that have not started, with the replicatedJobs that they wait for.
	Waits []ReplicatedWait `json:"waits,omitempty"`
	// Refused is the name of the Job that cannot be created; "" if another object cannot be. Refusal is the reason.
	Refused string           `json:"refused,omitempty"`
	Refusal *meaning.Refusal `json:"refusal,omitempty"`
	// Unlimited lists containers that request a resource without an equal limit that needs one (CreationRefused).
	Unlimited []Unlimited `json:"unlimited,omitempty"`
	// Details are messages of events.
	Details []string `json:"details,omitempty"`
	Advice  []Advice `json:"advice,omitempty"`
	// Gaps list the data that could not be read.
	Gaps []input.Gap `json:"gaps,omitempty"`
}

// ReplicatedWait is a replicatedJob that waits for another one.
type ReplicatedWait struct {
	ReplicatedJob string `json:"replicatedJob"`
	For           string `json:"for"`
	// Status is the awaited status of the other one: Ready or Complete.
	Status string `json:"status"`
}

// Unlimited is a container that requests a resource without an equal limit.
type Unlimited struct {
	ReplicatedJob string `json:"replicatedJob"`
	Container     string `json:"container"`
	Resource      string `json:"resource"`
}
