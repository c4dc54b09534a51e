// Lua and SQL files are imported as strings; .build.js and vitest.config.ts do the loading.
declare module '*.lua' {
  const text: string;
  export default text;
}
declare module '*.sql' {
  const text: string;
  export default text;
}
