package apirules

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// rule is a condition for the values of some fields; otherwise, the API server rejects the template.
type rule struct {
	// paths are fields, separated by spaces; in the table of pod templates, they are below the spec. [] stands for each item of a list, a|b for both fields, and
	// containers for initContainers, too.
	paths, id string
	check     check
}

// check returns what is wrong with a value, and a fix; "" if nothing is. It may say where below the value.
type check func(v *value) (message, fix string)

// value is the value of a field.
type value struct {
	// name is the name of the field, and owner the object that has it, in words.
	name, owner string
	// is is nil if the field is missing.
	is any
	// in is the object or list around it, nil for the whole; index is the index of an item, -1 for a field.
	in    *value
	index int
	// The problem is at the field below, or at the field below of this item; 0 is no item.
	below []string
	item  int
}

// path returns the path of the problem below that of the whole. Most values have none.
func (v *value) path(whole *field.Path) *field.Path {
	if v.in == nil {
		return whole
	}
	path := v.in.path(whole)
	if v.index >= 0 {
		path = path.Index(v.index)
	} else {
		path = path.Child(v.name)
	}
	if v.item > 0 {
		path = path.Index(v.item)
	}
	for _, name := range v.below {
		path = path.Child(name)
	}
	return path
}

func (v *value) isItem() bool { return v.in != nil && v.index >= 0 }

func (v *value) text() string { text, _ := v.is.(string); return text }

func (v *value) object() map[string]any { object, _ := v.is.(map[string]any); return object }

// nouns are the words for items of lists.
var nouns = map[string]string{
	"containers": "the container", "initContainers": "the container", "volumes": "the volume", "ports": "the port", "env": "the variable", "envFrom": "the item of envFrom",
	"volumeMounts": "the mount", "volumeDevices": "the device", "items": "the item", "sources": "the source", "resourceClaims": "the resource claim",
	"restartPolicyRules": "the rule", "rules": "the rule", "onPodConditions": "the condition", "ownerReferences": "the owner", "options": "the option", "sysctls": "the sysctl", "httpHeaders": "the header", "resizePolicy": "the resize policy",
}

// path is a path of a rule, by its steps.
type path struct {
	rule
	steps []string
}

// pathsOf returns the paths of a table, which are made when they are first needed.
func pathsOf(table func() []rule) func() []path {
	return sync.OnceValue(func() []path {
		var all []path
		for _, r := range table() {
			for _, text := range strings.Fields(r.paths) {
				text = strings.Replace(text, "containers[]", "containers|initContainers[]", 1)
				all = append(all, path{r, strings.Split(text, ".")})
			}
		}
		return all
	})
}

// apply checks the values of a table's fields in an object, which is at this path; nil is the top.
func apply(found *Problems, paths []path, object map[string]any, name string, at *field.Path) {
	for _, p := range paths {
		visit(&value{owner: name, is: object}, p.steps, func(v *value) {
			if message, fix := p.check(v); message != "" {
				found.add(p.id, v.path(at), fix, "%s", message)
			}
		})
	}
}

// maxItems is the length above which a list is not checked item by item: no object has room for more.
const maxItems = 10_000

// visit calls do for the values at the end of the steps. The last field may be missing, and empty items of lists are empty objects.
func visit(v *value, steps []string, do func(*value)) {
	if len(steps) == 0 {
		do(v)
		return
	}
	object := v.object()
	name, eachItem := strings.CutSuffix(steps[0], "[]")
	for name := range strings.SplitSeq(name, "|") {
		is, last := object[name], len(steps) == 1
		if is == nil && (!last || eachItem) {
			continue
		}
		inner := &value{name: name, owner: v.owner, is: is, in: v, index: -1}
		if !eachItem {
			if !last {
				inner.owner = name
			}
			visit(inner, steps[1:], do)
			continue
		}
		items, _ := is.([]any)
		if len(items) > maxItems {
			continue
		}
		for i, item := range items {
			if item == nil && !last {
				item = map[string]any{}
			}
			visit(&value{name: name, owner: nounOf(name), is: item, in: inner, index: i}, steps[1:], do)
		}
	}
}

// isEmpty reports whether a value is missing, or empty.
func isEmpty(is any) bool {
	switch v := is.(type) {
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return false
	}
	return is == nil
}

// required rejects a missing value.
func required(fix string) check {
	return func(v *value) (string, string) {
		if isEmpty(v.is) {
			return v.owner + " has no " + v.name, fix
		}
		return "", ""
	}
}

// format rejects texts, also in lists and maps, that are not valid. An empty text is valid: there is a default, or another rule.
func format(isValid func(string) []string, as, fix string) check {
	return func(v *value) (string, string) {
		if text := v.text(); text != "" && len(isValid(text)) > 0 {
			return fmt.Sprintf("%q cannot be %s", shorten(text), as), fix
		}
		return "", ""
	}
}

// notEmpty is format, and rejects an empty text of a field or an item that is given.
func notEmpty(isValid func(string) []string, as, fix string) check {
	return func(v *value) (string, string) {
		if text, isText := v.is.(string); (isText || v.is == nil && v.isItem()) && len(isValid(text)) > 0 {
			return fmt.Sprintf("%q cannot be %s", shorten(text), as), fix
		}
		return "", ""
	}
}

const (
	labelFix = "use at most 63 lowercase letters, digits and '-', with no '-' at the beginning or end"
	nameFix  = "use lowercase letters, digits, '-' and '.'"
	keyFix   = "use at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends; a prefix is a DNS name and '/'"
	valueFix = "use at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends, or an annotation"
)

func label(as string) check { return format(validation.IsDNS1123Label, as, labelFix) }

func subdomain(as string) check { return format(validation.IsDNS1123Subdomain, as, nameFix) }

func key(as string) check { return notEmpty(validation.IsQualifiedName, as, keyFix) }

func matches(pattern string) func(string) []string {
	expression := regexp.MustCompile(pattern)
	return func(text string) []string {
		if expression.MatchString(text) {
			return nil
		}
		return []string{"no match"}
	}
}

// allowed rejects a text that is none of these, and a missing one.
func allowed(values ...string) check {
	fix := "use " + wording.Enumerate(values, "or")
	return func(v *value) (string, string) {
		switch text := v.text(); {
		case slices.Contains(values, text):
			return "", ""
		case text == "":
			return v.name + " is missing", fix
		default:
			return fmt.Sprintf("there is no %s %q", v.name, shorten(text)), fix
		}
	}
}

// oneOf rejects a text that is none of these; an empty one has a default.
func oneOf(values ...string) check {
	return func(v *value) (string, string) {
		if v.text() == "" {
			return "", ""
		}
		return allowed(values...)(v)
	}
}

// given checks a field only if it is set, also to an empty text.
func given(check check) check {
	return func(v *value) (string, string) {
		if v.is == nil {
			return "", ""
		}
		return check(v)
	}
}

// needs rejects an object that has a field without another one.
func needs(name, other, fix string) check {
	return func(v *value) (string, string) {
		if object := v.object(); isEmpty(object[name]) || !isEmpty(object[other]) {
			return "", ""
		}
		v.below = []string{other}
		return name + " needs " + other, fix
	}
}

// between rejects numbers that are too small or too large.
func between(least, most int64) check {
	fix := fmt.Sprintf("use %d to %d", least, most)
	if most == math.MaxInt64 {
		fix = fmt.Sprintf("use %d or more", least)
	}
	return func(v *value) (string, string) {
		if n, isNumber := v.is.(int64); isNumber && (n < least || n > most) {
			return fmt.Sprintf("%s is %d", v.name, n), fix
		}
		return "", ""
	}
}

// noMore rejects a list with more items.
func noMore(most int) check {
	return func(v *value) (string, string) {
		if items, _ := v.is.([]any); len(items) > most {
			return fmt.Sprintf("there are %d %s, but at most %d are allowed", len(items), v.name, most), "remove some"
		}
		return "", ""
	}
}

// unique rejects a list with two items that have the same values of these fields, or with the same item twice.
func unique(fix string, names ...string) check {
	return func(v *value) (string, string) {
		first := map[string]bool{}
		items, _ := v.is.([]any)
		for i, item := range items {
			object, _ := item.(map[string]any)
			of := ""
			for _, name := range names {
				of += fmt.Sprint(object[name]) + "\x00"
			}
			if first[of] && !isEmpty(object[names[0]]) {
				v.item, v.below = i, names[:1]
				return fmt.Sprintf("%s has the %s %q", strings.Replace(nounOf(v.name), "the ", "another ", 1), names[0], shorten(fmt.Sprint(object[names[0]]))), fix
			}
			first[of] = true
		}
		return "", ""
	}
}

func nounOf(list string) string {
	if noun := nouns[list]; noun != "" {
		return noun
	}
	return "the item of " + list
}

// anyOf rejects an object with none of these fields.
func anyOf(fields ...string) check { return count(1, len(fields), fields) }

// exactlyOne rejects an object with none of these fields, or with several.
func exactlyOne(fields ...string) check { return count(1, 1, fields) }

// atMostOne rejects an object with several of these fields.
func atMostOne(fields ...string) check { return count(0, 1, fields) }

func count(least, most int, fields []string) check {
	return func(v *value) (string, string) {
		var set []string
		object := v.object()
		for _, name := range fields {
			if items, isList := object[name].([]any); object[name] != nil && (!isList || len(items) > 0) {
				set = append(set, name)
			}
		}
		switch {
		case object == nil && !v.isItem():
		case len(set) < least && len(object) > 0 && len(fields) == 2:
			return fmt.Sprintf("%s has neither %s nor %s", subject(v), fields[0], fields[1]), "add one of them"
		case len(set) < least:
			return subject(v) + " is empty", "add " + strings.Join(fields[:min(len(fields), 4)], " or ")
		case len(set) > most:
			v.below = set[1:2]
			return fmt.Sprintf("%s has both %s and %s", subject(v), set[0], set[1]), "remove one of them"
		}
		return "", ""
	}
}

// subject returns the words for an object.
func subject(v *value) string {
	if v.isItem() {
		return v.owner
	}
	return v.name
}

// relative rejects a path inside of a volume that leads out of it.
func relative(v *value) (string, string) {
	if strings.HasPrefix(v.text(), "/") {
		return fmt.Sprintf("%q must be a relative path", shorten(v.text())), "remove the '/' at the beginning"
	}
	return noUpward(v)
}

func noUpward(v *value) (string, string) {
	if slices.Contains(strings.Split(v.text(), "/"), "..") {
		return fmt.Sprintf("%q must not contain ..", shorten(v.text())), "write a path without .."
	}
	return "", ""
}

func fileMode(v *value) (string, string) {
	if mode, isNumber := v.is.(int64); isNumber && (mode < 0 || mode > 0o777) {
		return fmt.Sprintf("the file mode %d is not between 0 and 0777 (511)", mode), "write it as an octal number, such as 0644, or 420 in JSON"
	}
	return "", ""
}

// port rejects what is neither the number nor the name of a port.
func port(v *value) (string, string) {
	text, isText := v.is.(string)
	number, _ := v.is.(int64)
	if isText && len(validation.IsValidPortName(text)) > 0 || !isText && len(validation.IsValidPortNum(int(number))) > 0 {
		if !isText {
			text = strconv.FormatInt(number, 10)
		}
		return fmt.Sprintf("%s is not a port: %s", v.name, shorten(text)), "use 1 to 65535, or the name of a port"
	}
	return "", ""
}

// localhost rejects a profile whose file does not fit its type.
func localhost(v *value) (string, string) {
	of, _ := v.object()["type"].(string)
	file, _ := v.object()["localhostProfile"].(string)
	v.below = []string{"localhostProfile"}
	switch {
	case of == "Localhost" && (v.object()["localhostProfile"] == nil || v.name == "appArmorProfile" && strings.TrimSpace(file) == ""):
		return "type Localhost needs a localhostProfile", "add it, or use type: RuntimeDefault"
	case of != "Localhost" && of != "" && v.object()["localhostProfile"] != nil:
		return "only type Localhost has a localhostProfile", "remove it, or use type: Localhost"
	case v.name == "seccompProfile":
		return relative(&value{is: file})
	}
	return "", ""
}

// fieldPath rejects fields of the pod that cannot be the source of a value.
func fieldPath(fields ...string) check {
	fix := "use one of: " + strings.Join(fields, ", ") + ", metadata.labels['KEY'], metadata.annotations['KEY']"
	return func(v *value) (string, string) {
		text := v.text()
		name, key, hasKey := strings.Cut(text, "['")
		key, closed := strings.CutSuffix(key, "']")
		switch {
		case slices.Contains(fields, text), text == "spec.host" && slices.Contains(fields, "spec.nodeName"): // its former name
			return "", ""
		case hasKey && closed && (name == "metadata.labels" || name == "metadata.annotations"):
			return format(validation.IsQualifiedName, "the key of a label or annotation", keyFix)(&value{is: strings.ToLower(key)})
		}
		return fmt.Sprintf("the value cannot come from the field %q", shorten(text)), fix
	}
}
