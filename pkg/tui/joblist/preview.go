package joblist

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/job"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// A terminal of 100x30 has room for a preview below the list, and one of 160 columns beside it; leastList is the minimum
// width of the list.
const (
	previewWidth  = 100
	previewHeight = 30 - 2
	besideWidth   = 160
	besideGap     = 3
	leastList     = fullWhyFrom
)

// hasPreview reports whether a screen of this size has room for a preview.
func hasPreview(width, height int) bool { return width >= previewWidth && height >= previewHeight }

// Follow sets the preview to the Job under the cursor.
func (s *listScreen) Follow(d *screen.Data) {
	s.preview = types.NamespacedName{}
	if hasPreview(d.Width, d.Height) {
		s.preview = s.previewed(d)
	}
}

// previewed returns the Job under the cursor; in a recording, the Job that was previewed. It is zero if there is none.
func (s *listScreen) previewed(d *screen.Data) (key types.NamespacedName) {
	if s.o.Recorded {
		if f := d.Snap.Focus; f.Preview {
			key = f.Job
		}
		return key
	}
	if chosen := s.Chosen(d); chosen != nil {
		key = types.NamespacedName{Namespace: chosen.Namespace, Name: chosen.Name}
	}
	return key
}

// withPreview returns the list, with the preview if there is room.
func (s *listScreen) withPreview(p *widget.Paint, d *screen.Data) []layout.Line {
	if !hasPreview(d.Width, d.Height) || s.previewed(d).Name == "" {
		return s.list(p, d)
	}
	if p.Width >= besideWidth {
		list := p.Sized(max(leastList, p.Width*11/20), p.Height)
		lines := s.list(list, d) // This moves the cursor to the current row of its Job.
		preview := job.Preview(p.Sized(p.Width-list.Width-besideGap, p.Height), d, s.previewed(d))
		return layout.Beside(lines, list.Width, besideGap, preview, p.Glyphs.Ellipsis)
	}
	lines := append(s.list(p.Sized(p.Width, p.Height*9/20), d), nil)
	return append(lines, job.Preview(p.Sized(p.Width, p.Height-len(lines)), d, s.previewed(d))...)
}
