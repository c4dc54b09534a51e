// Lua, SQL, YAML and shell files are imported as strings, WebAssembly text as the bytes of its module; scripts/build.js and vitest.config.ts
// do the loading.
declare module '*.bash' {
  const text: string;
  export default text;
}
declare module '*.zsh' {
  const text: string;
  export default text;
}
declare module '*.fish' {
  const text: string;
  export default text;
}
declare module '*.lua' {
  const text: string;
  export default text;
}
declare module '*.sql' {
  const text: string;
  export default text;
}
declare module '*.wat' {
  const program: Uint8Array<ArrayBuffer>;
  export default program;
}
declare module '*.yaml' {
  const text: string;
  export default text;
}
