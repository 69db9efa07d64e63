package jobprinter

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// ownedIndent is the indent of the name of a Job below its owner.
const ownedIndent = 2

// ownerRow is a row above those of the Jobs of an owner.
type ownerRow struct{ namespace, name, jobs string }

// byOwner puts the Jobs of each controlling owner together, where its first Job is, below a row of the owner.
func byOwner(rows []Row) (grouped []Row) {
	owned := map[ownerRow][]Row{}
	for i := range rows {
		if of := ownerOf(&rows[i]); of != nil {
			owned[*of] = append(owned[*of], rows[i])
		}
	}
	for i := range rows {
		of := ownerOf(&rows[i])
		if of == nil {
			grouped = append(grouped, rows[i])
			continue
		}
		jobs := owned[*of]
		delete(owned, *of)
		if len(jobs) == 0 {
			continue
		}
		of.jobs = jobCounts(jobs)
		grouped = append(grouped, Row{owner: of})
		for _, job := range jobs {
			job.isOwned = true
			grouped = append(grouped, job)
		}
	}
	return grouped
}

func ownerOf(row *Row) *ownerRow {
	owner := metav1.GetControllerOfNoCopy(row.Job)
	if owner == nil {
		return nil
	}
	return &ownerRow{namespace: row.Job.Namespace, name: strings.ToLower(owner.Kind) + "/" + owner.Name}
}

// jobCounts returns "4 Jobs: 1 Failed, 3 Complete": complete Jobs last, because a narrow terminal cuts the text.
func jobCounts(jobs []Row) string {
	counts := map[string]int{}
	var states []string
	for i := range jobs {
		state := jobs[i].Status()
		if counts[state]++; counts[state] == 1 {
			states = append(states, state)
		}
	}
	if i := slices.Index(states, string(batchv1.JobComplete)); i >= 0 {
		states = append(slices.Delete(states, i, i+1), string(batchv1.JobComplete))
	}
	text := wording.Plural(len(jobs), "Job", "Jobs") + ":"
	for i, state := range states {
		states[i] = wording.Count(counts[state], state)
	}
	return text + " " + strings.Join(states, ", ")
}

// withOwners returns columns that also draw the rows of owners, which have only a namespace, a name, and their Jobs.
func withOwners(columns []column) []column {
	for i := range columns {
		header, text, cell, style := columns[i].Header, columns[i].Text, columns[i].Cell, columns[i].Style
		if cell == nil {
			cell = func(v *Row) layout.Line { return layout.Of(layout.Text(style, text(v))) }
		}
		columns[i].Text, columns[i].Cell = nil, func(v *Row) layout.Line {
			switch {
			case v.owner == nil && v.isOwned && header == nameColumn:
				return cell(v).Indent(ownedIndent)
			case v.owner == nil:
				return cell(v)
			case header == namespaceColumn:
				return layout.Plainly(v.owner.namespace)
			case header == nameColumn:
				return layout.Of(layout.Text(layout.Bold, v.owner.name))
			case header == whyColumn:
				return layout.Of(layout.Text(layout.Muted, v.owner.jobs))
			}
			return nil
		}
	}
	return columns
}
