package lint

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/catalog"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

// ignorePrefix starts a comment that ignores findings: batchjob-lint: ignore=ID,ID followed by any text.
const ignorePrefix = "batchjob-lint:"

// ignoreUnknown is the ID of findings about comments that ignore nothing.
const ignoreUnknown = "ignore-unknown"

const unknownIDFix = "use an ID that lint prints in brackets"

// ignores are the IDs of findings that are not reported for a document.
type ignores struct {
	everywhere []string
	lines      map[int][]string // by line of the finding
}

func (i *ignores) has(id string, line int) bool {
	return slices.Contains(i.everywhere, id) || slices.Contains(i.lines[line], id)
}

// ignoresOf returns the IDs that comments of the object's document ignore, and reports invalid comments. It reads a
// document with many objects only once.
func (r *lintResult) ignoresOf(object *manifest.Object) *ignores {
	comments := object.Comments()
	if len(comments) == 0 {
		return &ignores{}
	}
	if known := r.documents[&comments[0]]; known != nil {
		return known
	}
	found := &ignores{lines: map[int][]string{}}
	for _, c := range comments {
		rest, is := strings.CutPrefix(c.Content, ignorePrefix)
		if !is {
			continue
		}
		ids, problem := readIgnore(rest)
		if problem != "" {
			r.add(c.Position, object, lint.Finding{ID: ignoreUnknown, Severity: lint.Warning, Message: problem, Fix: unknownIDFix})
		}
		if c.Head {
			found.everywhere = append(found.everywhere, ids...)
		}
		found.lines[c.Line] = append(found.lines[c.Line], ids...)
	}
	if r.documents == nil {
		r.documents = map[*manifest.Comment]*ignores{}
	}
	r.documents[&comments[0]] = found
	return found
}

// readIgnore parses the text after the prefix.
func readIgnore(text string) (ids []string, problem string) {
	words := strings.Fields(text)
	if len(words) == 0 || !strings.HasPrefix(words[0], "ignore=") {
		return nil, "the comment ignores nothing: write # batchjob-lint: ignore=ID"
	}
	ids = strings.Split(strings.TrimPrefix(words[0], "ignore="), ",")
	for _, id := range ids {
		if !slices.Contains(ruleIDs(), id) {
			return ids, fmt.Sprintf("the comment ignores %q, which is no kind of finding", id)
		}
	}
	return ids, ""
}

func ruleIDs() []string {
	var ids []string
	for _, rule := range catalog.Rules() {
		ids = append(ids, rule.ID)
	}
	return ids
}

// warnUnknown prints a warning for each ID of --ignore that does not exist. It is not an error, as another version
// may have the ID.
func warnUnknown(out io.Writer, ids []string) {
	for _, id := range ids {
		if !slices.Contains(ruleIDs(), id) {
			fmt.Fprintf(out, "warning: --ignore %s: there is no such kind of finding; %s\n", sanitize.Line(id), unknownIDFix)
		}
	}
}
