package situation

import (
	"encoding/json"
	"strings"
)

// Answer is what the plugin says: its text, and its JSON if it has any.
type Answer struct{ Text, JSON string }

// Verdict is the result of an ask.
type Verdict struct {
	Ask   Ask
	First string
	// Faults are the facts that are missing, and those that are there and must not be; none if the answer is good.
	Faults []string
}

// report has the fields of a JobExplanation that facts are looked for in.
type report struct {
	Verdict struct{ Sentence string }
	Advice  []struct{ Text, Command string }
}

// Judge compares an answer with the facts of an ask.
func (a Ask) Judge(answer Answer) Verdict {
	var r report
	// An answer that is no JobExplanation, such as that about a CronJob, has no such fields.
	_ = json.Unmarshal([]byte(answer.JSON), &r)
	var advice, commands []string
	for _, one := range r.Advice {
		advice = append(advice, one.Text, one.Command)
		commands = append(commands, one.Command)
	}
	v := Verdict{Ask: a, First: r.Verdict.Sentence}
	if v.First == "" {
		v.First = firstParagraph(answer.Text)
	}
	text := flat(answer.Text)
	for _, place := range []struct {
		name, text  string
		says, never []Fact
	}{
		{"the first sentence", flat(v.First), a.Says.First, a.Never.First},
		{"the text", text, a.Says.Text, a.Never.Text},
		{"the advice", flat(strings.Join(advice, " ")), a.Says.Advice, a.Never.Advice},
		{"a command", flat(strings.Join(commands, "; ")), a.Says.Commands, a.Never.Commands},
	} {
		for _, f := range place.says {
			if !f.Pattern.MatchString(place.text) {
				v.Faults = append(v.Faults, place.name+" lacks: "+f.Name)
			}
		}
		for _, f := range place.never {
			if found := f.Pattern.FindString(place.text); found != "" {
				v.Faults = append(v.Faults, place.name+" must not say: "+f.Name)
			}
		}
	}
	return v
}

// flat undoes the wrapping of lines.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

func firstParagraph(text string) string {
	paragraph, _, _ := strings.Cut(strings.TrimSpace(text), "\n\n")
	return flat(paragraph)
}
