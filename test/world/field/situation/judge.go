package situation

import (
	"encoding/json"
	"strings"
)

// Answer is the plugin's answer. Text is the full answer, as with --full; Short and JSON are "" for commands without
// them.
type Answer struct{ Text, Short, JSON string }

// Verdict is the judgment of an answer.
type Verdict struct {
	Ask   Ask
	First string
	// Sentence is the sentence whose length is limited: First, or its first line if the answer is about an owner.
	Sentence string
	// Faults are the missing facts and the forbidden facts that were found; empty if the answer is good.
	Faults []string
}

// report has the fields of a JobExplanation in which facts are searched.
type report struct {
	Verdict struct{ Sentence string }
	Advice  []struct{ Text, Command string }
}

// Judge compares an answer with the facts of an ask.
func (a Ask) Judge(answer Answer) Verdict {
	var r report
	// An answer without a JobExplanation, such as an answer about a CronJob, has no such fields.
	_ = json.Unmarshal([]byte(answer.JSON), &r)
	var advice, commands []string
	for _, one := range r.Advice {
		advice = append(advice, one.Text, one.Command)
		commands = append(commands, one.Command)
	}
	if answer.JSON == "" {
		advice, commands = []string{answer.Text}, []string{answer.Text}
	}
	v := Verdict{Ask: a, First: r.Verdict.Sentence}
	v.Sentence = v.First
	if v.First == "" {
		v.First = firstParagraph(answer.Text)
		v.Sentence, _, _ = strings.Cut(strings.TrimSpace(answer.Text), "\n")
	}
	places := []place{
		{"the first sentence", flat(v.First), a.Says.First, a.Never.First},
		{"the text", flat(answer.Text), a.Says.Text, a.Never.Text},
		{"the advice", flat(strings.Join(advice, " ")), a.Says.Advice, a.Never.Advice},
		{"a command", flat(strings.Join(commands, "; ")), a.Says.Commands, a.Never.Commands},
	}
	if answer.Short != "" {
		places = append(places, place{"the short text", flat(answer.Short), a.Says.First, a.Never.Text})
	}
	for _, p := range places {
		v.Faults = append(v.Faults, p.faults()...)
	}
	return v
}

// place is a part of an answer, with the facts that it must have and must not have.
type place struct {
	name, text      string
	wantText, never []Fact
}

func (p place) faults() []string {
	var faults []string
	for _, f := range p.wantText {
		if !f.Pattern.MatchString(p.text) {
			faults = append(faults, p.name+" lacks: "+f.Name)
		}
	}
	for _, f := range p.never {
		if f.Pattern.MatchString(p.text) {
			faults = append(faults, p.name+" must not say: "+f.Name)
		}
	}
	return faults
}

// flat joins wrapped lines.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

func firstParagraph(text string) string {
	paragraph, _, _ := strings.Cut(strings.TrimSpace(text), "\n\n")
	return flat(paragraph)
}
