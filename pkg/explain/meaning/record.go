package meaning

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// structured returns the message of a structured line with its error, and its level; is reports whether it has a message.
func structured(line string) (text, severity string, is bool) {
	parts := map[string]string{}
	if strings.HasPrefix(line, "{") {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) == nil {
			parts = partsOf(fields)
		}
	} else if at := strings.Index(line, "{\""); at > 0 && json.Valid([]byte(line[at:])) {
		text, severity, is = structured(line[at:]) // the fields after a message, of zap and Ansible
		before, named := unstamped(line[:at])
		text = wording.Join(": ", strings.TrimRight(before, " \t:=>!"), text)
		return strings.Join(strings.Fields(text), " "), cmp.Or(named, severity), is
	} else if strings.Contains(line, "level=") || strings.Contains(line, `"msg"=`) {
		for _, m := range field.FindAllStringSubmatch(line, -1) {
			parts[m[1]] = unquoted(m[2])
		}
	} else if m := trailing.FindStringSubmatch(line); m != nil {
		text, severity = unstamped(m[1])
		return wording.Join(": ", strings.Trim(text, `"`), telltale(unquoted(m[2]))), severity, true
	}
	failure := telltale(cmp.Or(parts["error"], parts["err"]))
	if severity = cmp.Or(parts["level"], parts["severity"]); severity == "" && (failure != "" || parts["status"] == "error") { // The latter is of JSend.
		severity = errorLevels[0]
	}
	message := cmp.Or(parts["msg"], parts["message"])
	if message == "non-zero return code" { // of a command that Ansible ran
		message = cmp.Or(parts["stderr"], parts["stdout"], message)
	}
	message, severity = ofOther(message, severity)
	if text = wording.Join(": ", telltale(message), failure); text != "" && !strings.Contains(text, parts["code of HTTP"]) {
		text = parts["code of HTTP"] + " " + text
	}
	return strings.Join(strings.Fields(text), " "), severity, text != ""
}

// ofOther returns the line of another program that a message repeats, and the level of that line, whatever the level of the message;
// otherwise the message and its level.
func ofOther(message, severity string) (text, itsLevel string) {
	if output, is := strings.CutPrefix(message, "stderr=["); is {
		message, severity = output, ""
	}
	if plain, own := unstamped(message); own != "" && len(plain) < len(message) && !strings.Contains(message, "\n") {
		return plain, own
	}
	return message, severity
}

func unquoted(text string) string {
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return text
}

// telltale returns the line of a message that may say why the program failed, or the message if it has none or one line.
func telltale(message string) string {
	if !strings.Contains(strings.TrimSpace(message), "\n") {
		return message
	}
	return cmp.Or(LastLine(strings.Split(message, "\n")), message)
}

// fieldNames are other names of fields in lower case, as in the Elastic Common Schema, or of zap, Serilog, structlog and GELF.
var fieldNames = map[string]string{
	"log.level": "level", "levelname": "level", "lvl": "level", "l": "level", "loglevel": "level", "short_message": "msg", "error.message": "error", "err.message": "error", "exception.message": "error", "exception": "error", "exc_info": "error", "error_message": "error", "errormessage": "error", "error_description": "error",
}

// nested are the fields whose value may be an object with a message, or a list of such, and the fields that such a message stands for.
var nested = map[string]string{"err": "err", "error": "error", "errors": "error", "failures": "error", "data": "message"}

// partsOf returns the texts in an object of JSON, with its message as "msg". A record in it with a message and a level is from another program, and has its
// own; an error may be an object, too.
func partsOf(fields map[string]any) map[string]string {
	parts, inner := map[string]string{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(fields)) { // "message" comes after "@message", and wins.
		switch value := firstOf(fields[name], nested[name] != "").(type) {
		case string:
			name = strings.ToLower(strings.TrimLeft(name, "@"))
			parts[cmp.Or(fieldNames[name], name)] = value
		case float64:
			if name == "level" {
				parts[name] = bunyanLevels[value]
			} else if isStatus(name, value) && parts["level"]+parts["severity"] == "" && fields["method"] == nil {
				parts["level"], parts["code of HTTP"] = errorLevels[0], strconv.Itoa(int(value))
			}
		case map[string]any:
			if causes, is := value["root_cause"].([]any); is && len(causes) > 0 { // Elasticsearch
				value, _ = causes[0].(map[string]any)
			}
			record := partsOf(value)
			message, level := cmp.Or(record["msg"], wording.Join(": ", record["type"], record["reason"])), cmp.Or(record["level"], record["severity"], record["error_severity"])
			switch {
			case message != "" && level != "":
				inner = map[string]string{"msg": message, "level": level}
			case message != "" && nested[name] != "":
				parts[nested[name]] = message
			}
		}
	}
	parts["msg"] = cmp.Or(parts["msg"], parts["message"], parts["event"], parts["m"]) // structlog, zap
	maps.Copy(parts, inner)
	return parts
}

// firstOf returns the first element of a list of errors; other values as they are.
func firstOf(value any, ofErrors bool) any {
	if list, is := value.([]any); is && len(list) > 0 && ofErrors {
		return list[0]
	}
	return value
}

// isStatus reports whether a field is the status of an error of HTTP.
func isStatus(name string, value float64) bool {
	return (strings.HasSuffix(strings.ToLower(name), "code") || name == "status") && value >= 400 && value < 600
}

// wholeObject joins the JSON object that begins at the end of the first line, with the text before it, and returns the number of its lines. The
// count is 0 if no object begins there, or it has no message.
func wholeObject(lines []string) (text string, count int) {
	var all, flat bytes.Buffer
	all.WriteByte('{')
	for i, line := range lines[1:min(len(lines), maxErrorLines)] {
		line = strings.Trim(line, "│ \t\r")
		if all.WriteString(line); !strings.HasPrefix(line, "}") || json.Compact(&flat, all.Bytes()) != nil {
			continue
		}
		if _, _, is := structured(flat.String()); is {
			return strings.TrimSuffix(strings.Trim(lines[0], "│ \t\r"), "{") + flat.String(), i + 2
		}
		break
	}
	return "", 0
}
