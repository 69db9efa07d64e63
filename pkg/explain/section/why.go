package section

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// maxDepth limits the indentation, so that the end of a long chain stays readable on a narrow terminal.
const maxDepth = 6

// evidenceStyles are the colors of evidence; other kinds are plain.
var evidenceStyles = map[explain.EvidenceKind]layout.Style{
	explain.EvidenceContainer: layout.Bad, explain.EvidenceNote: layout.Warn, explain.EvidenceLogs: layout.Muted,
}

// Why draws the chain of evidence, each link below and to the right of the link that it explains.
func Why(f *Frame, r *explain.Report) Section {
	s := Section{Title: "Why"}
	for i := range r.Evidence {
		link, indent, branch := &r.Evidence[i], 0, ""
		if depth := min(i, maxDepth); depth > 0 {
			branch = f.Glyphs.Branch
			indent = layout.Width(branch) * (depth - 1)
		}
		at := indent + layout.Width(branch)
		l := layout.Of(layout.Text(layout.Muted, branch), layout.Text(evidenceStyles[link.Kind], wording.Sentence(link.Text)))
		if !link.Time.IsZero() {
			l = append(l, layout.Textf(layout.Muted, " (%s)", f.offset(r, link.Time.Time)))
		}
		s.Lines = append(s.Lines, f.Wrap(l.Indent(indent), at)...)
		s.Lines = append(s.Lines, f.quote(at, link.Lines)...)
	}
	return s
}
