package jsonscan

// AppendCompact appends src, the JSON text of a value, without the white space between its tokens. Names,
// numbers and strings keep their spelling. A text that is cut off stays cut off.
func AppendCompact(dst, src []byte) []byte {
	start := 0
	for i := 0; i < len(src); {
		switch c := src[i]; {
		case c == '"':
			i = behindString(src, i)
		case c > ' ':
			i++
		default:
			dst = append(dst, src[start:i]...)
			for i++; i < len(src) && src[i] <= ' '; i++ {
			}
			start = i
		}
	}
	return append(dst, src[start:]...)
}

// behindString returns the offset after the string that begins at start.
func behindString(src []byte, start int) int {
	for i := start + 1; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(src)
}
