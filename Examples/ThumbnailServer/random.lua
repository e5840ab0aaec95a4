-- A random picture with each request. COUNT says how many there are.
local count = tonumber(os.getenv("COUNT"))

function init() math.randomseed(4711) end

function request() return wrk.format("GET", "/thumbnails/" .. math.random(0, count - 1)) end
