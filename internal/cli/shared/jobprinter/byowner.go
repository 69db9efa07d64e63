package jobprinter

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
)

// ownedIndent is the indent of the name of a Job below its owner.
const ownedIndent = "  "

// byOwner puts the Jobs of each controlling owner together, where its first Job is, below a row of the owner.
func byOwner(rows []Row) (grouped []Row) {
	owned := map[types.NamespacedName][]Row{}
	for i := range rows {
		if of := ownerOf(&rows[i]); of != nil {
			owned[keyOf(of)] = append(owned[keyOf(of)], rows[i])
		}
	}
	for i := range rows {
		of := ownerOf(&rows[i])
		if of == nil {
			grouped = append(grouped, rows[i])
			continue
		}
		jobs := owned[keyOf(of)]
		delete(owned, keyOf(of))
		if len(jobs) == 0 {
			continue
		}
		head := len(grouped)
		grouped = append(grouped, Row{owner: of})
		var states []string
		for _, job := range jobs {
			job.indent = ownedIndent
			states, grouped = append(states, job.Status()), append(grouped, job)
		}
		grouped[head].owner.Jobs = section.JobCounts(states)
	}
	return grouped
}

func keyOf(o *section.Owner) types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
}

func ownerOf(row *Row) *section.Owner {
	owner := metav1.GetControllerOfNoCopy(row.Job)
	if owner == nil {
		return nil
	}
	return &section.Owner{Namespace: row.Job.Namespace, Name: strings.ToLower(owner.Kind) + "/" + owner.Name}
}
