package explain

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
)

// Disruptions are the pods that were taken from the Job: evicted, preempted, or lost with their node. They include pods that a
// rule of the podFailurePolicy ignores, which no counter of the status has, and pods that only events still show.
type Disruptions struct {
	Pods int32 `json:"pods"`
	// LostSeconds is the time that TimedPods of the Pods had run; of the others, it is unknown.
	LostSeconds int64 `json:"lostSeconds"`
	TimedPods   int32 `json:"timedPods"`
	// Index is the index that lost the most pods, and IndexPods is their number; nil if no index lost more than one.
	Index     *int32 `json:"index,omitempty"`
	IndexPods int32  `json:"indexPods,omitempty"`
	// By has the disruptions by actor and reason, the most frequent first.
	By []Disruption `json:"by"`
}

// Disruption counts the pods that one actor took for one reason. Its kind is "" for pods that an unknown actor deleted or
// evicted: the Eviction API leaves no event.
type Disruption struct {
	meaning.Ending `json:",inline"`
	// Why is the reason of Karpenter, such as Underutilized.
	Why  string `json:"why,omitempty"`
	Pods int32  `json:"pods"`
	// LostSeconds and TimedPods are as in Disruptions.
	LostSeconds int64 `json:"lostSeconds"`
	TimedPods   int32 `json:"timedPods"`
	// Indexes are the indexes of the pods, as a list of intervals, and IndexList lists them one by one, see ListIndexes.
	Indexes   string  `json:"indexes,omitempty"`
	IndexList []int32 `json:"indexList,omitempty"`
	// For are the pods for which the scheduler preempted, by UID or by namespace and name, at most MaxExamples.
	For []string `json:"for,omitempty"`
	// Nodes are nodes of the pods, at most MaxExamples.
	Nodes []string `json:"nodes,omitempty"`
	// Rulings are what the podFailurePolicy decided about the pods, as far as it is known.
	Rulings []RuledPods  `json:"rulings,omitempty"`
	First   *metav1.Time `json:"first,omitempty"`
	Last    *metav1.Time `json:"last,omitempty"`
}

// RuledPods is the number of pods with the same Ruling.
type RuledPods struct {
	Ruling `json:",inline"`
	Pods   int32 `json:"pods"`
}
