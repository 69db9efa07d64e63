package integration

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/manifests"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/goldenfile"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/mutations"
)

// answer is what the API server and lint say about a mutation.
type answer struct {
	mutations.FieldMutation
	object  *manifest.Object
	ours    []lint.Finding
	verdict manifests.Verdict
	err     error // the API server does not say
}

// rejects reports whether the API server rejects the object.
func (a answer) rejects() bool { return len(rejected(a.verdict.Findings)) > 0 }

func rejected(findings []lint.Finding) []lint.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f lint.Finding) bool { return !f.Rejected })
}

// line returns the line of a field in the manifest.
func (a answer) line(path string) int { return a.object.Position(path).Line }

// hasLine reports whether a finding is about what the API server rejects: it is at the changed line, at the one that the API
// server means, or at a field in it or around it.
func (a answer) hasLine(f, server lint.Finding) bool {
	ours, theirs := indexes.ReplaceAllString(f.Field, ""), indexes.ReplaceAllString(server.Field, "")
	return a.line(f.Field) == a.line(a.Path) || a.line(f.Field) == a.line(server.Field) || strings.HasPrefix(ours, theirs) || strings.HasPrefix(theirs, ours)
}

// indexes matches indexes in a path, which the API server leaves out of some.
var indexes = regexp.MustCompile(`\[[^\]]*\]`)

// ask creates the object without storing it, and lints its manifest.
func (s *lintServer) ask(ctx context.Context, m mutations.FieldMutation) answer {
	a := answer{FieldMutation: m}
	a.verdict, a.err = manifests.VerdictOf(s.create(ctx, "default", m.Object))
	text, err := yaml.Marshal(m.Object)
	if err != nil {
		a.err = err
		return a
	}
	objects, problems := manifest.Parse("a.yaml", text)
	if len(objects) != 1 {
		a.err = fmt.Errorf("%v in %s", problems, text)
		return a
	}
	a.object = objects[0]
	input := lint.Input{Object: a.object.Content, Written: a.object.Written}
	a.ours = lint.Check(input)
	return a
}

// Every field of a Job is changed in every way: what the API server rejects has a finding at its line, and what it accepts has
// no error. What lint alone misses is in the table, which does not grow.
// Requirements: LNT-12, LNT-13
func TestLintAndTheAPIServerTogetherMissNothing(t *testing.T) {
	t.Parallel()
	s := newLintServer(t)
	originals, err := mutations.WithAllFields()
	assert.NoError(t, err)
	for _, o := range originals {
		if a := s.ask(t.Context(), mutations.FieldMutation{Object: o}); a.err != nil || a.rejects() || len(rejected(a.ours)) > 0 {
			t.Errorf("%v: %v, %+v, %+v", o["metadata"], a.err, a.verdict, rejected(a.ours))
		}
	}
	all := mutations.OfFields(originals)
	answers := s.askAll(t.Context(), all)
	refused, unanswered, missed, areas := 0, 0, map[string][]answer{}, map[string]*coverage{}
	for _, a := range answers {
		what := a.Name + ": " + a.Path + " " + a.Kind
		switch alone := rejected(a.ours); {
		case a.err != nil:
			unanswered++
			t.Logf("no answer: %s: %v", what, a.err)
		case !a.rejects():
			if len(alone) > 0 || len(rejected(a.verdict.Merge(a.ours))) > 0 {
				t.Errorf("%s: the API server accepts it: %+v", what, alone)
			}
		default:
			refused++
			of := areas[area(a.Place())]
			if of == nil {
				of = &coverage{}
				areas[area(a.Place())] = of
			}
			of.refused++
			if len(alone) == 0 {
				missed[a.Place()] = append(missed[a.Place()], a)
			} else {
				of.found++
			}
			together := rejected(a.verdict.Merge(a.ours))
			for _, server := range rejected(a.verdict.Findings) {
				if !slices.ContainsFunc(together, func(f lint.Finding) bool { return a.hasLine(f, server) }) {
					t.Errorf("%s: no finding about %+v, only %+v", what, server, together)
				}
			}
		}
	}
	found := refused
	for _, list := range missed {
		found -= len(list)
	}
	t.Logf("%d mutations, of which the API server rejects %d; offline, lint finds %d", len(all), refused, found)
	if len(all) < 5000 || refused < 2500 || unanswered > 2 {
		t.Errorf("%d mutations, %d rejected, %d without an answer", len(all), refused, unanswered)
	}
	checkMissed(t, missed)
	checkCoverage(t, areas)
}

// coverage is how many changes the API server rejects, and how many of them lint finds.
type coverage struct{ refused, found int }

// area returns the part of a Job that a field belongs to.
func area(place string) string {
	place = strings.TrimPrefix(place, "spec.jobTemplate.")
	names := strings.Split(strings.TrimPrefix(place, "spec.template.spec."), ".")
	n := 1
	if slices.Contains([]string{"spec", "containers", "initContainers", "volumes", "affinity"}, names[0]) {
		n = 2
	}
	return strings.Replace(strings.Join(names[:min(n, len(names))], "."), "initContainers", "containers", 1)
}

// checkCoverage compares what lint checks completely, in part and not with the documentation, or rewrites it.
func checkCoverage(t *testing.T, areas map[string]*coverage) {
	t.Helper()
	var complete, part, nothing []string
	for _, name := range slices.Sorted(maps.Keys(areas)) {
		switch of := areas[name]; of.found {
		case of.refused:
			complete = append(complete, "`"+name+"`")
		case 0:
			nothing = append(nothing, "`"+name+"`")
		default:
			part = append(part, fmt.Sprintf("`%s` (%d of %d)", name, of.found, of.refused))
		}
	}
	row := func(what string, names []string) string {
		if len(names) == 0 {
			names = []string{"–"}
		}
		return "| " + what + " | " + strings.Join(names, ", ") + " |\n"
	}
	compareTable(t, "docs/lint.md", "checked", "\n| | fields, those of pods without `spec.template.spec` |\n|---|---|\n"+row("completely", complete)+row("in part", part)+row("not", nothing)+"\n")
}

// compareTable compares the text between two comments of a page with what it should be, or rewrites it.
func compareTable(t *testing.T, page, name, want string) {
	t.Helper()
	goldenfile.CompareSection(t, filepath.Join("..", "..", "..", page), "<!-- "+name+" -->", "<!-- end of "+name+" -->", want)
}

// Each change that lint once accepted, and the API server rejects, has a finding with --server at its line; the test says how
// many of them lint finds alone.
// Requirements: LNT-12
func TestWhatLintAcceptedIsFoundWithTheAPIServer(t *testing.T) {
	t.Parallel()
	s := newLintServer(t)
	data, err := os.ReadFile("testdata/rejected.txt")
	assert.NoError(t, err)
	changed, found := 0, 0
	for line := range strings.Lines(string(data)) {
		path, text, isChange := strings.Cut(strings.TrimSpace(line), "\t")
		if !isChange || path[0] == '#' {
			continue
		}
		changed++
		change := decoded(t, text)
		container, pod := map[string]any{"name": "main", "image": "i"}, map[string]any{"restartPolicy": "Never"}
		if of, set := change["container"].(map[string]any); set {
			container = lay(container, of)
		}
		if of, set := change["pod"].(map[string]any); set {
			pod = lay(pod, of)
		}
		pod["containers"] = []any{container}
		job := asJob(map[string]any{"template": map[string]any{"spec": pod}}, decoded(t, "metadata: {name: a}"))
		path = strings.NewReplacer("container.", "spec.template.spec.containers[0].", "pod.", "spec.template.spec.").Replace(path)
		delete(change, "container")
		delete(change, "pod")
		a := s.ask(t.Context(), mutations.FieldMutation{Object: jsonNumbers(lay(job, change)), Path: path})
		together := rejected(a.verdict.Merge(a.ours))
		if a.err != nil || !a.rejects() || !slices.ContainsFunc(together, func(f lint.Finding) bool { return a.isAt(f, path) }) {
			t.Errorf("%s: %v, %+v, with lint %+v", line, a.err, a.verdict, together)
		}
		if len(rejected(a.ours)) > 0 {
			found++
		}
	}
	t.Logf("lint alone finds %d of %d", found, changed)
	if changed < 100 || found < 90 {
		t.Errorf("%d changes, %d of them found", changed, found)
	}
}

// isAt reports whether a finding is at a field, in it, or at its line.
func (a answer) isAt(f lint.Finding, path string) bool {
	return strings.HasPrefix(indexes.ReplaceAllString(f.Field, ""), indexes.ReplaceAllString(path, "")) || a.line(f.Field) == a.line(path)
}

// Of single changes of manifests as people write them, lint finds 99.5 % of those that the API server rejects, without it, and
// rejects none that it accepts.
// Requirements: LNT-10
func TestLintFindsMistakesInManifestsOfPeople(t *testing.T) {
	t.Parallel()
	s := newLintServer(t)
	folders := []string{"../../../examples", "../../world/field/cases", "../../world/mutations/testdata/manifests", "../../../internal/cli/lint/testdata/documented/kubernetes"}
	objects, _ := manifest.Read(t.Context(), manifest.Options{Files: folders, Recursive: true})
	var originals []map[string]any
	for _, o := range objects {
		metadata, _ := o.Content["metadata"].(map[string]any)
		delete(metadata, "namespace")
		for _, job := range o.Jobs() {
			job.RemoveNames()
		}
		if kind := o.Kind(); (kind == "Job" || kind == "CronJob") && !s.ask(t.Context(), mutations.FieldMutation{Object: o.Content}).rejects() {
			originals = append(originals, o.Content)
		}
	}
	all := mutations.OfFields(originals)
	random := rand.New(rand.NewPCG(60, 1)) // deterministic
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	refused, found := 0, 0
	for _, a := range s.askAll(t.Context(), all[:min(len(all), 2500)]) {
		what := a.Name + ": " + a.Path + " " + a.Kind
		switch alone := rejected(a.ours); {
		case a.err != nil: // without completions and with successPolicy, the API server fails
			t.Logf("no answer: %s: %v", what, a.err)
		case !a.rejects() && len(alone) > 0:
			t.Errorf("%s: the API server accepts it: %+v", what, alone)
		case a.rejects():
			refused++
			if len(alone) > 0 {
				found++
				continue
			}
			t.Logf("missed: %s: %s", what, answersText(a))
		}
	}
	t.Logf("%d changes of %d objects: lint finds %d of %d", len(all), len(originals), found, refused)
	if len(originals) < 100 || refused < 1000 || 1000*found < 995*refused {
		t.Errorf("%d objects: lint finds %d of %d", len(originals), found, refused)
	}
}

func (s *lintServer) askAll(ctx context.Context, all []mutations.FieldMutation) []answer {
	return inParallel(all, func(m mutations.FieldMutation) answer { return s.ask(ctx, m) })
}

// checkMissed compares what lint misses with the table, or rewrites it.
func checkMissed(t *testing.T, missed map[string][]answer) {
	t.Helper()
	var b strings.Builder
	b.WriteString("\n| field | changes | the API server says |\n|---|---|---|\n")
	for _, place := range slices.Sorted(maps.Keys(missed)) {
		kinds := map[string]bool{}
		for _, a := range missed[place] {
			kinds[a.Kind] = true
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.TrimPrefix(place, "spec.template.spec."), strings.Join(slices.Sorted(maps.Keys(kinds)), ", "), answersText(missed[place][0]))
	}
	b.WriteString("\n")
	compareTable(t, "docs/internals/lint-offline.md", "missed", b.String())
}

// details are the parts of a message that the table omits: values, and explanations of formats.
var details = regexp.MustCompile(`(?s)^[^:]*: |: a (?:lowercase|valid|DNS).*$|\{.*?\}`)

// answersText returns what the API server says, in short.
func answersText(a answer) string {
	text := strings.TrimPrefix(rejected(a.verdict.Findings)[0].Message, "the API server rejects it: ")
	text = strings.ReplaceAll(details.ReplaceAllString(text, ""), "|", `\|`)
	text = strings.NewReplacer("`", "", "<", "&lt;", "\n", " ").Replace(text)
	if len(text) > 90 {
		text = text[:90] + "…"
	}
	return text
}
