package mutations

import (
	"regexp"
	"slices"
	"strings"
)

// changes returns the mistakes in YAML.
func changes() []change {
	return slices.Concat(layoutChanges(), nameChanges(), valueChanges(), requiredChanges())
}

// replaceFirst replaces the first occurrence and reports whether there is one.
func replaceFirst(text, old, by string) (string, bool) {
	return strings.Replace(text, old, by, 1), strings.Contains(text, old)
}

// layoutChanges returns mistakes in the syntax.
func layoutChanges() []change {
	shift := func(by int) func(line) (string, bool) {
		return func(l line) (string, bool) {
			if by < 0 {
				return strings.Replace(l.text, strings.Repeat(" ", -by), "", 1), len(l.indent) >= -by
			}
			return strings.Repeat(" ", by) + l.text, true
		}
	}
	return []change{
		{"indented by 1 more", shift(1)},
		{"indented by 1 less", shift(-1)},
		{"indented by 2 more", shift(2)},
		{"indented by 2 less", shift(-2)},
		{"tab", func(l line) (string, bool) {
			return "\t" + strings.TrimPrefix(l.text, l.indent), l.indent != ""
		}},
		{"no colon", func(l line) (string, bool) {
			return replaceFirst(l.text, l.key+":", l.key)
		}},
		{"no space after the colon", func(l line) (string, bool) {
			is, found := replaceFirst(l.text, l.key+": ", l.key+":")
			return is, found && l.value != ""
		}},
		{"no space after the dash", func(l line) (string, bool) {
			return l.indent + "-" + strings.TrimPrefix(l.text, l.indent+l.dash), l.dash != ""
		}},
		{"quote not closed", func(l line) (string, bool) {
			last := strings.LastIndexAny(l.text, `"'`)
			if last < 0 {
				return "", false
			}
			return l.text[:last] + l.text[last+1:], true
		}},
		{"quote not opened", func(l line) (string, bool) {
			first := strings.IndexAny(l.text, `"'`)
			if first < 0 {
				return "", false
			}
			return l.text[:first] + l.text[first+1:], true
		}},
		{"bracket not closed", func(l line) (string, bool) {
			last := strings.LastIndexAny(l.text, "]}")
			if last < 0 {
				return "", false
			}
			return l.text[:last] + l.text[last+1:], true
		}},
		{"bracket not opened", func(l line) (string, bool) {
			first := strings.IndexAny(l.value, "[{")
			if first < 0 {
				return "", false
			}
			first += len(l.text) - len(l.value)
			return l.text[:first] + l.text[first+1:], true
		}},
		{"field twice", func(l line) (string, bool) {
			return l.text + " # again", l.key != "" && l.value != "" && l.dash == "" && l.value != "|"
		}},
	}
}

// nameChanges returns mistakes in field names.
func nameChanges() []change {
	rename := func(to func(name string) string) func(line) (string, bool) {
		return func(l line) (string, bool) {
			if l.key == "" || l.isFree() {
				return "", false
			}
			return replaceFirst(l.text, l.key, to(l.key))
		}
	}
	return []change{
		{"letter missing", rename(func(name string) string { return name[:len(name)/2] + name[len(name)/2+1:] })},
		{"letter twice", rename(func(name string) string { return name[:len(name)/2+1] + name[len(name)/2:] })},
		{"letters swapped", rename(func(name string) string {
			i := len(name) / 2
			return name[:i-1] + name[i:i+1] + name[i-1:i] + name[i+1:]
		})},
		{"other case", rename(func(name string) string {
			if lower := strings.ToLower(name); lower != name {
				return lower
			}
			return strings.ToUpper(name[:1]) + name[1:]
		})},
		{"with underscores", rename(func(name string) string {
			return regexp.MustCompile(`[A-Z]`).ReplaceAllStringFunc(name, func(c string) string { return "_" + strings.ToLower(c) })
		})},
		{"with an s", rename(func(name string) string {
			if singular, plural := strings.CutSuffix(name, "s"); plural {
				return singular
			}
			return name + "s"
		})},
	}
}

// free are the fields whose objects may have any keys.
var free = []string{"labels", "annotations", "matchLabels", "nodeSelector", "requests", "limits"}

// isFree reports whether the key is user-defined, not a field of the API.
func (l line) isFree() bool { return len(l.path) > 1 && slices.Contains(free, l.path[len(l.path)-2]) }

var (
	isNumber = regexp.MustCompile(`^\d+$`)
	isWord   = regexp.MustCompile(`^[A-Za-z][\w./:@-]*$`)
	// resources matches fields with quantities, for values that are not quantities.
	resources = regexp.MustCompile(`^(cpu|memory|ephemeral-storage|storage|sizeLimit)$`)
)

func (l line) hasNumber() bool   { return isNumber.MatchString(l.value) && !l.isFree() }
func (l line) hasBoolean() bool  { return l.value == "true" || l.value == "false" }
func (l line) hasQuantity() bool { return resources.MatchString(l.key) }
func (l line) hasWord() bool {
	return isWord.MatchString(l.value) && !l.hasBoolean() && !l.hasQuantity()
}
func (l line) hasName() bool   { return l.key == "name" && l.hasWord() }
func (l line) hasObject() bool { return l.key == "metadata" || l.key == "resources" }
func (l line) hasList() bool   { return strings.HasPrefix(l.value, "[") }
func (l line) hasQuotes() bool {
	return strings.HasPrefix(l.value, `"`) && strings.HasSuffix(l.value, `"`)
}

func (l line) hasEnum() bool {
	enums := []string{"operator", "effect", "protocol", "scheme", "medium", "whenUnsatisfiable"}
	return l.hasWord() && (strings.HasSuffix(l.key, "Policy") || slices.Contains(enums, l.key))
}

// set returns a change that replaces the value of a line if fits returns true.
func set(fits func(line) bool, to func(value string) string) func(line) (string, bool) {
	return func(l line) (string, bool) {
		if l.key == "" || l.value == "" || !fits(l) {
			return "", false
		}
		return strings.TrimSuffix(l.text, l.value) + to(l.value), true
	}
}

// setTo returns a change that sets a fixed value.
func setTo(fits func(line) bool, value string) func(line) (string, bool) {
	return set(fits, func(string) string { return value })
}

func inQuotes(value string) string { return `"` + value + `"` }

// valueChanges returns mistakes in values.
func valueChanges() []change {
	all := []change{
		{"number in quotes", set(line.hasNumber, inQuotes)},
		{"number is text", setTo(line.hasNumber, "many")},
		{"number with a fraction", setTo(line.hasNumber, "1.5")},
		{"number is negative", set(line.hasNumber, func(value string) string { return "-" + value })},
		{"number too large", setTo(line.hasNumber, "99999999999")},
		{"number is a list", setTo(line.hasNumber, "[1]")},
		{"boolean in quotes", set(line.hasBoolean, inQuotes)},
		{"boolean is a number", setTo(line.hasBoolean, "1")},
		{"boolean is text", setTo(line.hasBoolean, "enabled")},
		{"text is a number", setTo(line.hasWord, "5432")},
		{"text is a boolean", setTo(line.hasWord, "yes")},
		{"text is a list", set(line.hasWord, func(value string) string { return "[" + value + "]" })},
		{"text is an object", setTo(line.hasWord, "{a: b}")},
		{"no quotes", set(line.hasQuotes, func(value string) string { return strings.Trim(value, `"`) })},
		{"list is text", setTo(line.hasList, "sleep")},
		{"object is text", setTo(line.hasObject, "text")},
		{"bad name", setTo(line.hasName, "Bad_Name")},
		{"placeholder", setTo(line.hasName, "${NAME}")},
		{"value is empty", setTo(func(l line) bool { return l.hasWord() || l.hasQuantity() }, `""`)},
		{"enum in another case", set(line.hasWord, strings.ToLower)},
		{"enum unknown", setTo(line.hasEnum, "Sometimes")},
		{"mount of no volume", setTo(func(l line) bool { return l.in("volumeMounts", "name") }, "elsewhere")},
	}
	for _, bad := range []string{"2GB", "500 m", "1,5", "lots", "-1", "1gib", "512m", "1.2.3"} {
		all = append(all, change{"quantity " + bad, setTo(line.hasQuantity, bad)})
	}
	return all
}

// requiredChanges returns changes that remove required fields.
func requiredChanges() []change {
	return []change{{"field missing", func(l line) (string, bool) {
		return "", l.value != "" && l.dash == "" && slices.Contains([]string{"restartPolicy", "image", "schedule", "mountPath", "kind", "apiVersion", "operator", "key", "topologyKey"}, l.key)
	}}}
}

// jsonChanges returns the mistakes in JSON.
func jsonChanges() []change {
	return []change{
		{"no comma", func(l line) (string, bool) {
			is, found := strings.CutSuffix(l.text, ",")
			return is, found
		}},
		{"two commas", func(l line) (string, bool) { return l.text + ",", strings.HasSuffix(l.text, ",") }},
		{"no colon", func(l line) (string, bool) { return replaceFirst(l.text, `":`, `"`) }},
		{"no quotes", func(l line) (string, bool) {
			if l.key == "" {
				return "", false
			}
			return replaceFirst(l.text, `"`+l.key+`"`, l.key)
		}},
		{"quote not closed", func(l line) (string, bool) {
			last := strings.LastIndex(l.text, `"`)
			if last < 0 {
				return "", false
			}
			return l.text[:last] + l.text[last+1:], true
		}},
		{"bracket not opened", func(l line) (string, bool) {
			at := strings.LastIndexAny(l.text, "{[")
			if at < 0 {
				return "", false
			}
			return l.text[:at] + l.text[at+1:], true
		}},
		{"letter missing", func(l line) (string, bool) {
			if len(l.key) < 2 || l.isFree() {
				return "", false
			}
			return replaceFirst(l.text, l.key, l.key[:1]+l.key[2:])
		}},
		{"text is a number", func(l line) (string, bool) {
			return regexp.MustCompile(`: "[^"]*"`).ReplaceAllString(l.text, `: 5432`), l.key != "memory" && l.key != "cpu"
		}},
		{"number in quotes", func(l line) (string, bool) {
			return regexp.MustCompile(`: (\d+)`).ReplaceAllString(l.text, `: "$1"`), true
		}},
	}
}
