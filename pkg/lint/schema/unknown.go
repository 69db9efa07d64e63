package schema

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/typo"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// synonyms maps other names for a field, in lower case, to its name.
var synonyms = map[string]string{
	"ttl": "ttlSecondsAfterFinished", "ttlseconds": "ttlSecondsAfterFinished", "ttlafterfinished": "ttlSecondsAfterFinished", "ttlsecondsafterfinish": "ttlSecondsAfterFinished",
	"timeout": "activeDeadlineSeconds", "timeoutseconds": "activeDeadlineSeconds", "activedeadline": "activeDeadlineSeconds", "deadline": "activeDeadlineSeconds", "deadlineseconds": "activeDeadlineSeconds",
	"retries": "backoffLimit", "retry": "backoffLimit", "maxretries": "backoffLimit", "retrylimit": "backoffLimit", "backoff": "backoffLimit",
	"retriesperindex": "backoffLimitPerIndex",
	"suspended":       "suspend", "paused": "suspend",
	"cron": "schedule", "tz": "timeZone", "concurrency": "concurrencyPolicy", "startingdeadline": "startingDeadlineSeconds",
	"successfulhistorylimit": "successfulJobsHistoryLimit", "failedhistorylimit": "failedJobsHistoryLimit",
	"failurepolicy": "podFailurePolicy", "restart": "restartPolicy", "pullpolicy": "imagePullPolicy", "pullsecrets": "imagePullSecrets",
	"environment": "env", "envs": "env", "envvars": "env", "cmd": "command", "entrypoint": "command", "arguments": "args", "mounts": "volumeMounts",
	"secretref": "secretKeyRef", "configmapref": "configMapKeyRef", "secretkeyref": "secretRef", "configmapkeyref": "configMapRef",
}

// ofCronJob are the fields of a CronJob's spec, which a Job does not have.
var ofCronJob = []string{"schedule", "timeZone", "concurrencyPolicy", "startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit", "jobTemplate"}

// searchedAtMost is the number of problems in an object above which the meaning of unknown fields is no longer
// searched.
const searchedAtMost = 100

// checkUnknown reports a field that the API does not have, and corrects it if the intended field is certain.
func (w *walk) checkUnknown(s *Schema, content map[string]any, name string) {
	if w.silent || w.isFull() { // silent: a guess below a guess
		return
	}
	here := place{schema: s, content: content, steps: slices.Clone(w.steps)}
	path := pathOf(w.Prefix, append(slices.Clone(w.steps), step{name: name}))
	problem := Problem{ID: "unknown-field", Path: path, Message: "batch/v1 has no field " + path, Fix: "correct the name, or remove it"}
	if len(w.result.Problems) > searchedAtMost {
		w.report(problem)
		return
	}
	around := here.around()
	if _, ofContainer := s.fields["limits"]; ofContainer && slices.Contains([]string{"cpu", "memory", "ephemeral-storage"}, name) {
		problem.Fix = "write it in limits, in requests, or in both"
	} else if to, right := findCertain(around, name); right != "" {
		problem.Message += ", did you mean " + to.fieldName(w.Prefix, here, right)
		problem.Fix = w.move(here, name, to, right, path)
	} else if inner := here.unwrap(name); inner != nil {
		problem.Message += ": what it contains belongs into " + cmp.Or(pathOf(w.Prefix, here.steps), "the object") + " itself"
		problem.Fix = "write " + wording.EnumerateFew(inner) + " here, without " + name
		for _, field := range inner {
			w.result.Moved[pathOf(w.Prefix, append(slices.Clone(here.steps), step{name: field}))] = path + "." + field
		}
	} else if slices.Contains(ofCronJob, name) {
		problem.Message = path + " is a field of a CronJob, and this is a Job"
		problem.Fix = "write kind: CronJob, with the spec of the Job in spec.jobTemplate.spec, or remove it"
	} else if to, right := findSimilar(around, name); right != "" {
		problem.Message += ", did you mean " + to.fieldName(w.Prefix, here, right)
		problem.Fix = w.guess(here, name, to, right)
	}
	w.report(problem)
}

// unwrap moves the fields of an unknown object into the object that contains it, if that has all of them and none is set, and
// returns their names.
func (p place) unwrap(name string) []string {
	inner, _ := p.content[name].(map[string]any)
	for field := range inner {
		if _, set := p.content[field]; set || p.schema.fields[field] == nil {
			return nil
		}
	}
	maps.Copy(p.content, inner)
	if len(inner) > 0 {
		delete(p.content, name)
	}
	return slices.Sorted(maps.Keys(inner))
}

// checkEmpty finds fields that are siblings of the field they belong to, because of missing indentation.
func (w *walk) checkEmpty(s *Schema, content map[string]any) {
	if w.silent {
		return
	}
	for _, name := range s.names {
		of := s.fields[name]
		if value, found := content[name]; !found || value != nil || of.kind != object && of.kind != dictionary {
			continue
		}
		inner := map[string]any{}
		for _, other := range slices.Sorted(maps.Keys(content)) {
			if s.fields[other] == nil && (of.kind == dictionary || of.fields[other] != nil) {
				inner[other] = content[other]
			}
		}
		if len(inner) > 0 {
			w.moveIntoSibling(s, content, name, inner)
		}
	}
}

// moveIntoSibling reports that fields belong into a sibling without a value, and moves them there.
func (w *walk) moveIntoSibling(s *Schema, content map[string]any, name string, inner map[string]any) {
	here := slices.Clone(w.steps)
	empty := pathOf(w.Prefix, append(here, step{name: name}))
	names := slices.Sorted(maps.Keys(inner))
	content[name] = inner
	at := empty
	for _, other := range names {
		delete(content, other)
		at = pathOf(w.Prefix, append(here, step{name: other}))
		w.result.Moved[pathOf(w.Prefix, append(here, step{name: name}, step{name: other, key: s.fields[name].kind == dictionary}))] = at
	}
	if len(names) > 1 { // more likely, the line of the empty field is wrong
		at = empty
	}
	w.report(Problem{
		ID: "unknown-field", Path: at, Fix: "indent " + wording.EnumerateFew(names) + " more than " + name,
		Message: empty + " is empty, but there is " + wording.EnumerateFew(names) + " beside it",
	})
}

// move moves a field to its correct place and name, unless that would overwrite a field, and returns the fix.
func (w *walk) move(here place, name string, to place, right, path string) string {
	target := to.create()
	if target == nil {
		return to.fix(w.Prefix, here, right)
	}
	if _, found := target[right]; found {
		return "remove it"
	}
	target[right] = here.content[name]
	delete(here.content, name)
	moved := append(slices.Clone(to.steps), step{name: right, schema: to.schema, object: target})
	w.result.Moved[pathOf(w.Prefix, moved)] = path
	if !to.isSame(here) {
		w.pending = append(w.pending, visit{steps: slices.Clone(to.steps), schema: to.schema, object: target, name: right})
	}
	return to.fix(w.Prefix, here, right)
}

// guess records a field that an unknown one may stand for, and returns the fix.
func (w *walk) guess(here place, name string, to place, right string) string {
	if _, found := to.content[right]; found {
		return "remove it"
	}
	silent := &walk{Input: w.Input, steps: slices.Clone(to.steps), silent: true}
	if value, keep := silent.checkValue(to.schema.fields[right], here.content[name]); keep {
		w.result.Guesses = append(w.result.Guesses, Guess{to: to, name: right, value: value})
	}
	return to.fix(w.Prefix, here, right)
}

// place is an object of the content, or an optional object that is missing.
type place struct {
	schema  *Schema
	content map[string]any // nil if it is missing
	steps   []step
	// distance is the number of objects between this place and the start of the search.
	distance int
}

func (p place) isSame(as place) bool { return p.distance == 0 && len(p.steps) == len(as.steps) }

// fieldName returns the name of a field, with its path unless it belongs here.
func (p place) fieldName(prefix string, here place, right string) string {
	if p.isSame(here) {
		return right
	}
	return strings.TrimPrefix(pathOf(prefix, p.steps)+"."+right, ".")
}

func (p place) fix(prefix string, here place, right string) string {
	there := pathOf(prefix, p.steps)
	switch {
	case p.isSame(here):
		return "write " + right + ", or remove it"
	case there == "":
		return "move it to the top level, or remove it"
	}
	return "move it to " + there + ", or remove it"
}

// create returns the object, and creates it and the objects around it if they are missing; nil if another value is in the
// way.
func (p place) create() map[string]any {
	if p.content != nil || len(p.steps) == 0 {
		return p.content
	}
	last := p.steps[len(p.steps)-1]
	if last.name == "" {
		return nil
	}
	parent := last.object
	if parent == nil {
		parent = place{schema: last.schema, steps: p.steps[:len(p.steps)-1]}.create()
	}
	if parent == nil {
		return nil
	}
	if parent[last.name] == nil {
		parent[last.name] = map[string]any{}
	}
	made, _ := parent[last.name].(map[string]any)
	return made
}

// generic are names that occur in many objects.
var generic = []string{"name", "namespace", "type", "kind", "key", "value", "values", "path", "items", "operator", "status", "optional", "labels", "annotations"}

// normalize returns a name without differences in case and separators. Names of the API have no separators.
func normalize(name string) string {
	return strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(name, "_", ""), "-", ""))
}

// findCertain returns the nearest field with this name, ignoring case and separators, or with a synonym of it; "" if there
// is none, or if there are several at the same distance.
func findCertain(around []place, name string) (place, string) {
	wanted := normalize(name)
	synonym := strings.ToLower(synonyms[wanted])
	if here := around[0].schema; slices.Contains(here.lower, synonym) {
		return around[0], here.names[slices.Index(here.lower, synonym)]
	}
	if to, right := findNearest(around, wanted); right != "" || synonym == "" {
		return to, right
	}
	return findNearest(around, synonym)
}

// findNearest returns the only field, among the nearest ones, with this name in lower case.
func findNearest(around []place, lower string) (found place, name string) {
	several := false
	for _, p := range around {
		if name != "" && p.distance > found.distance {
			break
		}
		i := slices.Index(p.schema.lower, lower)
		isInside := p.content != nil && len(p.steps) == len(around[0].steps)+1 || p.distance == 1 && p.field() == "metadata"
		switch {
		case i < 0, p.distance > 0 && slices.Contains(generic, p.schema.names[i]) && !isInside:
		case name == "" || p.fits(lower) > found.fits(lower):
			found, name, several = p, p.schema.names[i], false
		case p.fits(lower) == found.fits(lower):
			several = true
		}
	}
	if several {
		return place{}, ""
	}
	return found, name
}

// field returns the name of the field that has the object; "" if none has.
func (p place) field() string {
	if len(p.steps) == 0 {
		return ""
	}
	return p.steps[len(p.steps)-1].name
}

// fits returns 2 for an object without the field, 1 for one that already has it, and 0 for one that is missing.
func (p place) fits(lower string) int {
	i := slices.Index(p.schema.lower, lower)
	switch _, set := p.content[p.schema.names[i]]; {
	case p.content == nil:
		return 0
	case set:
		return 1
	}
	return 2
}

// maxDistance is the maximum number of objects between a field and the object it belongs to.
const maxDistance = 6

// around returns the objects around this one, nearest first: the enclosing objects, and the objects in these.
func (p place) around() []place {
	seen := map[string]bool{}
	all := p.appendInside(nil, seen)
	distance := 0
	for i, s := range slices.Backward(p.steps) {
		if s.schema.kind == object {
			distance++
			all = place{schema: s.schema, content: s.object, steps: p.steps[:i], distance: distance}.appendInside(all, seen)
		}
	}
	slices.SortStableFunc(all, func(a, b place) int { return a.distance - b.distance })
	return all
}

// appendInside adds an object, and the objects in it. A list is followed only if it has a single item.
func (p place) appendInside(all []place, seen map[string]bool) []place {
	path := pathOf("", p.steps)
	if p.distance > maxDistance || seen[path] {
		return all
	}
	seen[path] = true
	all = append(all, p)
	for _, name := range p.schema.names {
		s := p.schema.fields[name]
		if name == "status" || name == "managedFields" { // users do not write these
			continue
		}
		steps := append(slices.Clone(p.steps), step{name: name, schema: p.schema, object: p.content})
		switch s.kind {
		case object:
			content, _ := p.content[name].(map[string]any)
			all = place{schema: s, content: content, steps: steps, distance: p.distance + 1}.appendInside(all, seen)
		case list:
			items, set := p.content[name].([]any)
			if len(items) != 1 && (set || p.distance > 0) || s.elem.kind != object { // of a missing list, only one that belongs here
				continue
			}
			content, _ := append(items, nil)[0].(map[string]any)
			all = place{schema: s.elem, content: content, steps: append(steps, step{schema: s}), distance: p.distance + 1}.appendInside(all, seen)
		}
	}
	return all
}

// isLikely reports whether the object exists, or is one that every Job should have.
func (p place) isLikely() bool {
	return p.content != nil || len(p.steps) == 0 || slices.Contains([]string{"spec", "template", "jobTemplate", "metadata"}, p.field())
}

// findSimilar returns the field with the most similar name, in the same object or in one around it: a guess. There is none
// if more than one edit is needed for each three letters. Short names are similar to many, so they are searched only here.
func findSimilar(around []place, name string) (found place, right string) {
	wanted := normalize(name)
	if len(wanted) < 3 {
		return place{}, ""
	}
	least := max((len(wanted)+2)/3, 2)
	for _, p := range around {
		if !p.isLikely() || p.distance > 0 && len(wanted) < 5 {
			continue
		}
		for i, known := range p.schema.names {
			// The difference of the lengths is a lower bound of the distance, whose computation is slow for long names.
			if p.distance > 0 && slices.Contains(generic, known) || max(len(wanted)-len(known), len(known)-len(wanted)) >= least {
				continue
			}
			if d := typo.Distance(wanted, p.schema.lower[i]); d > 0 && d < least {
				found, right, least = p, known, d
			}
		}
		if right != "" && p.distance == 0 {
			break
		}
	}
	return found, right
}
