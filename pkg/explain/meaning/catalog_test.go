package meaning

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/goldenfile"
)

// catalogRow is a line of a list in testdata/catalog: what a component can say, and what its meaning must be.
type catalogRow struct {
	place, reason, message, source string
	// kind is the kind of the meaning, "quoted" for none, "" for any.
	kind string
	// keeps are parts of the message that the answer contains.
	keeps []string
}

// catalogAnswer is what explanations say about a message.
type catalogAnswer struct {
	// kind is "quoted" if no row matches.
	kind string
	// sentence is the first sentence, and shown what it and its quotation say; brief and advice are "" for a message without a
	// meaning.
	sentence, brief, advice string
	// matches is the number of rows that match the message, and yield to no other row.
	matches int
	// quotes reports whether the sentence about a message with a meaning quotes all of it, however long it is.
	quotes bool
}

// catalogReaders explain the messages of a list as reports do, by the name of its file. Reports do not parse the messages of
// lists without a reader.
var catalogReaders = map[string]func(reason, message string) catalogAnswer{
	"image": func(reason, message string) catalogAnswer {
		return answerOf(OfImage(reason, message), images, imageError(message), "image etl:7 of container main ")
	},
	"sandbox": startAnswer(sandboxes),
	"volume":  startAnswer(volumes),
	"devices": startAnswer(devices),
	"stop": func(reason, message string) catalogAnswer {
		return answerOf(OfStop(reason, message), stops, message, "the pod is terminating, as ")
	},
	"start": func(reason, message string) catalogAnswer {
		e, text := StartErrorIn(message), fmt.Sprintf("container main cannot be started (%s): ", reason)
		if t := OfContainer(message); t != nil {
			return answerOf(t, volumes, message, text)
		}
		if e == nil {
			return catalogAnswer{kind: "quoted", sentence: text + wording.Shorten(message, 160)}
		}
		return catalogAnswer{kind: string(e.Kind), sentence: text + e.Text(), brief: e.Brief(), advice: e.Advice(Container{Name: "main", Image: "etl:7"}), matches: 1}
	},
	"program": func(code, line string) catalogAnswer {
		exit, _ := strconv.ParseInt(code, 10, 32)
		e, text := KnownErrorIn(int32(exit), line), fmt.Sprintf("container main exited with code %s: ", code)
		if e == nil {
			return catalogAnswer{kind: "quoted", sentence: text + wording.Shorten(line, maxMessage)}
		}
		matches := len(matchingErrors(int32(exit), line))
		return catalogAnswer{kind: string(e.Kind), sentence: text + e.Text(), brief: e.Brief(), advice: e.Advice(Container{Name: "main", Image: "etl:7"}), matches: matches}
	},
	"scheduling": func(_, message string) catalogAnswer {
		a, kinds, texts := catalogAnswer{matches: 1}, []string{}, []string{}
		for _, u := range UnfitsOf(message) {
			kinds, texts = append(kinds, string(u.Kind)), append(texts, u.Text(nil))
			a.matches, a.advice = max(a.matches, len(matchingUnfits(u.Message))), a.advice+u.Advice(nil)
		}
		a.kind, a.brief = strings.Join(kinds, ", "), strings.Join(texts, ", ")
		if a.sentence = "no node can take the pod: " + a.brief; a.kind == string(UnfitOther) {
			a.kind = "quoted"
		}
		return a
	},
	"refusal":    refusalAnswer,
	"autoscaler": autoscalerAnswer,
	"probe":      quotesOnly("Liveness probe failed: "),
	"node":       quotesOnly("Pod was rejected: "),
}

func refusalAnswer(_, message string) catalogAnswer {
	r := OfRefusal(message)
	advice, _ := r.Advice("ns")
	a := catalogAnswer{kind: string(r.Kind), sentence: r.Text(), brief: r.Brief(), advice: advice, matches: 1, quotes: true}
	switch {
	case r.Webhook != nil:
		a.kind += ": " + string(r.Webhook.Kind)
	case r.Kind == RefusalForbidden, r.Kind == RefusalOther:
		a.kind = "quoted"
	}
	if r.row().patterns != nil {
		a.matches = len(matching(refusals, message[len(wrappers.FindString(message)):]))
	}
	return a
}

func autoscalerAnswer(reason, message string) catalogAnswer {
	a := OfAutoscaler(ByKarpenter, reason, message)
	end, why := OfEnd(ByKarpenter, reason, message, "")
	switch {
	case a != nil && a.Adds:
		return catalogAnswer{kind: "adds a node", sentence: a.Text(), brief: a.By, advice: a.By, matches: 1, quotes: true}
	case a != nil:
		return catalogAnswer{kind: "adds no node", sentence: a.Text(), brief: a.By, advice: a.By, matches: 1, quotes: true}
	case end != nil:
		return catalogAnswer{kind: string(end.Kind), sentence: end.Text() + ": " + why, brief: end.Brief(), advice: end.Advice(why), matches: 1, quotes: true}
	}
	return catalogAnswer{kind: "quoted"}
}

// ReadCatalog sets the reader of a list that another package parses; kind is "quoted" if it does not know the message.
func ReadCatalog(list string, read func(reason, message string) (kind, sentence string)) {
	catalogReaders[list] = func(reason, message string) catalogAnswer {
		kind, sentence := read(reason, message)
		return catalogAnswer{kind: kind, sentence: sentence, brief: sentence, advice: sentence, matches: 1, quotes: true}
	}
}

// matchingErrors returns the rows that match the line of a program and yield to no other row that does.
func matchingErrors(code int32, line string) []*errorRow {
	var all []*errorRow
	for _, rows := range [][]errorRow{startErrors, programErrors} {
		for i := range rows {
			if rows[i].match(code, line, strings.ToLower(line)) != nil {
				all = append(all, &rows[i])
			}
		}
		if len(all) > 0 {
			break // Errors of a shell come first.
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(r *errorRow) bool {
		return slices.ContainsFunc(all, func(other *errorRow) bool { return slices.Contains(r.yieldsTo, other.kind) })
	})
}

func startAnswer(rows []row[TroubleKind]) func(reason, message string) catalogAnswer {
	return func(reason, message string) catalogAnswer {
		return answerOf(OfStart(reason, message), rows, message, "the pod cannot start because ")
	}
}

// quotesOnly is for messages that reports quote after another sentence, without a prefix.
func quotesOnly(prefix string) func(reason, message string) catalogAnswer {
	return func(_, message string) catalogAnswer {
		return catalogAnswer{kind: "quoted", sentence: wording.Shorten(strings.TrimPrefix(message, prefix), 100)}
	}
}

func answerOf(t *Trouble, rows []row[TroubleKind], message, before string) catalogAnswer {
	if t == nil {
		return catalogAnswer{kind: "quoted"}
	}
	about := "its volume data"
	a := catalogAnswer{kind: string(t.Kind), sentence: before + t.Text(about), brief: t.Brief(), advice: t.Advice(about)}
	if quote := t.Quote(); quote != "" {
		a.sentence += ": " + wording.Quoted(quote)
	}
	if rowOf(t.Kind).patterns == nil {
		a.kind = "quoted"
	}
	if rowIn(nodeLimits, t.Kind).kind != "" {
		rows = nodeLimits
	}
	a.matches = len(matching(rows, strings.Join(strings.Fields(message), " ")))
	return a
}

// catalogRows reads a list: reason, message, source, and optionally the kind and the parts that the answer keeps, separated by
// tabs. In a message, \n is a new line.
func catalogRows(t *testing.T, file string) (all []catalogRow) {
	t.Helper()
	data, err := os.ReadFile(file)
	assert.NoError(t, err)
	for n, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		columns := append(strings.Split(line, "\t"), "", "")
		if len(columns) < 5 || len(columns) > 7 || slices.Contains(columns[:3], "") {
			t.Errorf("%s:%d: want reason, message, source, kind, parts", file, n+1)
			continue
		}
		row := catalogRow{place: fmt.Sprintf("%s:%d", filepath.Base(file), n+1), reason: columns[0], message: strings.ReplaceAll(columns[1], `\n`, "\n"), source: columns[2], kind: columns[3]}
		if columns[4] != "" {
			row.keeps = strings.Split(columns[4], " | ")
		}
		all = append(all, row)
	}
	return all
}

// maxSentence is the maximum length of the first sentence about a message with a meaning, in characters.
const maxSentence = 160

func (row *catalogRow) check(t *testing.T, a catalogAnswer) {
	t.Helper()
	switch {
	case row.kind != "" && a.kind != row.kind:
		t.Errorf("%s: %s, want %s: %s", row.place, a.kind, row.kind, a.sentence)
	case a.kind != "quoted" && (a.brief == "" || a.advice == ""):
		t.Errorf("%s: %+v", row.place, a)
	case a.kind != "quoted" && a.matches != 1:
		t.Errorf("%s: %d rows match: one has to yield to the other", row.place, a.matches)
	case a.kind != "quoted" && !a.quotes && len([]rune(a.sentence)) > maxSentence:
		t.Errorf("%s: %d characters: %s", row.place, len([]rune(a.sentence)), a.sentence)
	}
	for _, part := range row.keeps {
		assert.Contains(t, a.sentence, part, row.place)
	}
}

// Requirements: PND-03, PND-04
func TestMessagesOfTheCatalogHaveAnAnswer(t *testing.T) {
	files, err := filepath.Glob("testdata/catalog/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no lists: %v", err)
	}
	var table strings.Builder
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		read, known, quoted, kinds := catalogReaders[name], 0, 0, map[string]int{}
		rows := catalogRows(t, file)
		if read == nil {
			continue
		}
		for i := range rows {
			a := read(rows[i].reason, rows[i].message)
			rows[i].check(t, a)
			if a.kind == "quoted" {
				quoted++
				continue
			}
			known++
			for kind := range strings.SplitSeq(a.kind, ", ") {
				kinds[kind]++
			}
		}
		t.Logf("%s: %d known, %d quoted", name, known, quoted)
		fmt.Fprintf(&table, "| [%s](../../pkg/explain/meaning/%s) | %d | %d | %d | %s |\n", name, file, len(rows), known, quoted, mostFrequent(kinds))
	}
	goldenfile.CompareSection(t, "../../../docs/internals/catalog.md", "<!-- lists -->", "<!-- end of lists -->",
		"\n| list | messages | known | quoted | kinds |\n|---|---|---|---|---|\n"+table.String()+"\n")
}

// mostFrequent lists kinds with their counts, the most frequent first.
func mostFrequent(kinds map[string]int) string {
	var names []string
	for name := range kinds {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int { return cmp.Or(kinds[y]-kinds[x], strings.Compare(x, y)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("`%s` %d", name, kinds[name])
	}
	return strings.Join(names, ", ")
}
